// What goes wrong in the page outside of any test's sight. It is loaded before everything else, so that nothing is missed.

export const troubles = [];
addEventListener("securitypolicyviolation", (event) => {
  troubles.push(`CSP: ${event.violatedDirective} forbids ${event.blockedURI}`);
});
addEventListener("error", (event) => troubles.push(`error: ${event.message}`));
addEventListener("unhandledrejection", ({ reason }) => {
  const message = typeof reason === "object" && reason !== null ? reason.message : String(reason);
  troubles.push(`rejection: ${message}`);
});
