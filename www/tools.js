// What the agent may do on this page. The schemas go to the model as they are, and each call is checked against them here.
import { tool } from "./pkg/index.js";
import { pause } from "./dom.js";
import { PEOPLE, openLines } from "./tasks.js";
import { FILES } from "./viewer.js";

/** @import { Board } from "./board.js" */
/** @import { Viewer } from "./viewer.js" */

const column = { type: "string", enum: ["todo", "doing", "done"], description: "A column of the board." };
const assignee = { type: "string", enum: Object.keys(PEOPLE), description: "The initials of a member of the team." };
const taskId = { type: "string", pattern: "^HB-[1-9][0-9]{0,3}$", description: "A task's id, for example HB-7." };
const task = {
  type: "object",
  properties: { id: taskId, title: { type: "string" }, column, assignee: {}, estimate: { type: "number" }, dueInDays: {} },
  required: ["id", "title", "column"],
};

/** @param {{ board: Board, viewer: Viewer }} page */
export const pageTools = ({ board, viewer }) => [
  tool({
    name: "read_board_tasks",
    description: "Reads the tasks on the board.",
    inputSchema: {
      type: "object",
      properties: {
        column,
        assignee,
        format: { type: "string", enum: ["tasks", "lines"], description: "lines: what is open, the most urgent first, a line each. Without it: tasks." },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { tasks: { type: "array", items: task }, lines: { type: "array", items: { type: "string" } } },
      anyOf: [{ required: ["tasks"] }, { required: ["lines"] }],
    },
    annotations: { title: "Read the board", readOnlyHint: true },
    async execute(args, { signal }) {
      board.reading(true);
      try {
        await pause(900, signal);
        const tasks = board.list(args);
        return args.format === "lines" ? { lines: openLines(tasks) } : { tasks };
      } finally {
        board.reading(false);
      }
    },
  }),

  tool({
    name: "create_task",
    description: "Puts a new task on the board. A task with the same title is not created twice.",
    inputSchema: {
      type: "object",
      properties: {
        title: { type: "string", minLength: 3, maxLength: 80 },
        column: { ...column, description: "Where it goes. Without it: todo." },
        assignee,
        estimate: { type: "number", minimum: 0.5, maximum: 10, multipleOf: 0.5, description: "Days of work. Without it: 1." },
        due_in_days: { type: "integer", minimum: 0, maximum: 90, description: "Days from today; 0 is today." },
      },
      required: ["title"],
      additionalProperties: false,
    },
    outputSchema: { type: "object", properties: { created: { type: "boolean" }, task }, required: ["created", "task"] },
    // The visitor's board: a person looks at what the agent wants to put there, and may change it.
    confirm: true,
    annotations: { title: "Create a task", destructiveHint: false },
    async execute(args, { signal }) {
      const result = board.create({
        title: args.title,
        column: args.column ?? "todo",
        assignee: args.assignee ?? null,
        estimate: args.estimate ?? 1,
        dueInDays: args.due_in_days ?? null,
      });
      board.point([result.task.id]);
      await pause(500, signal);
      return result;
    },
  }),

  tool({
    name: "move_task",
    description: "Moves a task to the top of another column.",
    inputSchema: { type: "object", properties: { id: taskId, to: column }, required: ["id", "to"], additionalProperties: false },
    annotations: { title: "Move a task", destructiveHint: false, idempotentHint: true },
    async execute({ id, to }, { signal }) {
      const result = board.move(id, to);
      board.point([id]);
      await pause(600, signal);
      return result;
    },
  }),

  tool({
    name: "point_at_tasks",
    description: "Draws the visitor's attention to some tasks for a few seconds.",
    inputSchema: {
      type: "object",
      properties: { ids: { type: "array", items: taskId, minItems: 1, maxItems: 5, uniqueItems: true } },
      required: ["ids"],
      additionalProperties: false,
    },
    annotations: { title: "Point at tasks", readOnlyHint: true },
    async execute({ ids }, { signal }) {
      board.point(ids);
      await pause(400, signal);
    },
  }),

  tool({
    name: "open_file_viewer",
    description: `Shows a file of the project beside the board. There are: ${FILES.join(", ")}.`,
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]*$", maxLength: 120 },
        line: { type: "integer", minimum: 1, description: "A line to show and to mark." },
      },
      required: ["path"],
      additionalProperties: false,
    },
    annotations: { title: "Open a file", destructiveHint: false, idempotentHint: true },
    async execute({ path, line }, { signal }) {
      const { lines } = await viewer.open(path, { line, signal });
      await pause(400, signal);
      return { path, lines };
    },
  }),
];
