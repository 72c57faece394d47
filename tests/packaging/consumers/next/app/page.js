"use client";

import { useEffect, useState } from "react";
import { play } from "../app.js";

export default function Page() {
  const [text, setText] = useState("");
  useEffect(() => void play(new URLSearchParams(location.search).get("server")).then(setText), []);
  return <p>{text}</p>;
}
