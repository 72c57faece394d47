// What is on the board when the page opens. Days count from today, so that the board never looks abandoned.

export const COLUMNS = /** @type {const} */ ([
  ["todo", "To do"],
  ["doing", "Doing"],
  ["done", "Done"],
]);

export const PEOPLE = { AO: "Ada Obi", ML: "Mika Lund", TK: "Tomo Kato" };

/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} title
 * @property {"todo" | "doing" | "done"} column
 * @property {keyof typeof PEOPLE | null} assignee
 * @property {number} estimate Days of work.
 * @property {number | null} dueInDays Negative: overdue.
 */

/** @returns {Task[]} */
export const sampleTasks = () => [
  { id: "HB-7", title: "Departures show the wrong day after the clock change", column: "todo", assignee: "ML", estimate: 2, dueInDays: 2 },
  { id: "HB-12", title: "Write the release notes for 2.4", column: "todo", assignee: "TK", estimate: 0.5, dueInDays: 4 },
  { id: "HB-9", title: "Show berth closures on the map", column: "todo", assignee: "AO", estimate: 3, dueInDays: 9 },
  { id: "HB-14", title: "Keep the timetable readable without a signal", column: "todo", assignee: null, estimate: 5, dueInDays: null },
  { id: "HB-4", title: "Import the winter timetable", column: "doing", assignee: "AO", estimate: 2, dueInDays: 0 },
  { id: "HB-11", title: "Contrast audit of the search page", column: "doing", assignee: "TK", estimate: 1, dueInDays: -1 },
  { id: "HB-2", title: "Filter departures by line", column: "done", assignee: "ML", estimate: 2, dueInDays: null },
  { id: "HB-5", title: "Warning banner for storm days", column: "done", assignee: "AO", estimate: 1, dueInDays: null },
];

/** What is still to be done, the most urgent first, a line each. @param {Task[]} tasks */
export function openLines(tasks) {
  const open = tasks.filter(({ column }) => column !== "done");
  // What is due on no day comes last.
  open.sort((one, other) => (one.dueInDays ?? Number.MAX_VALUE) - (other.dueInDays ?? Number.MAX_VALUE));
  return open.map(({ id, title, dueInDays }) => `${id}: ${title}${dueIn(dueInDays)}`);
}

/** @param {number | null} days */
function dueIn(days) {
  if (days === null) return "";
  if (days < 0) return days === -1 ? " (1 day late)" : ` (${-days} days late)`;
  return days === 0 ? " (due today)" : days === 1 ? " (due tomorrow)" : ` (due in ${days} days)`;
}
