/* Which lines of a stack trace are frames, and which of those are the application's own. */

export interface TraceLine {
  text: string;
  kind: "app" | "foreign" | "note";
}

/* Python, Java, Node, Go, Ruby: a line that names a place. */
const FRAME = /^\s*(?:File ".*", line \d+|at .*\(.*\)$|at .+:\d+|from .+:\d+:in|\S+\.(?:go|rb|py|c|cc|rs):\d+)/;
/* A line of source, or an argument, below its frame. */
const BELOW = /^\s{4,}\S|^\t/;
const FOREIGN =
  /site-packages|dist-packages|node_modules|\/usr\/(?:lib|local\/lib|share)|<frozen |\bnode:|internal\/|\/gems\/|\/go\/(?:pkg|src)\/|\bruntime[./]|at (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.(?:springframework|apache|hibernate|jboss|eclipse))\./;

export function traceLines(trace: string): TraceLine[] {
  let last: TraceLine["kind"] = "note";
  return trace.split("\n").map((text) => {
    if (FRAME.test(text)) last = FOREIGN.test(text) ? "foreign" : "app";
    else if (!BELOW.test(text)) last = "note";
    return { text, kind: last };
  });
}
