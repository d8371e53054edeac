// Lets client libraries of Node fail against failing_server.py: one JSON line for each case, with the type, the message
// and what an uncaught error would print. Ports are masked.
//     raise_node.mjs '{"http": 1234, "closed": 1235, …}'        with NODE_PATH set to the folder of the libraries
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
import {inspect} from "node:util";
import net from "node:net";

const ports = JSON.parse(process.argv[2]);
const require = createRequire(process.env.NODE_PATH + "/raise_node.mjs");
const load = async (name) => {
  const module = await import(pathToFileURL(require.resolve(name)).href);
  return module;
};
const waitFor = (where) => (where === "slow" || where === "silent" ? 300 : 30000);
const at = (where) => (where === "closed" ? `http://127.0.0.1:${ports.closed}` : `http://127.0.0.1:${ports.http}/${where}`);
const cases = {};
const STATUSES = ["429", "503", "500", "401", "400"];
const add = (library, wheres, run) => {
  for (const where of wheres) cases[`${library} ${where}`] = () => run(where);
};

add("fetch", ["closed", "slow"], (where) => fetch(at(where), {method: "POST", signal: AbortSignal.timeout(waitFor(where))}));
add("axios", ["closed", "slow", ...STATUSES], async (where) => (await load("axios")).default.post(at(where), {}, {timeout: waitFor(where)}));
add("got", ["closed", "slow", ...STATUSES], async (where) =>
  (await load("got")).default.post(at(where), {timeout: {request: waitFor(where)}, retry: {limit: 0}}));
add("node-fetch", ["closed"], async (where) => (await load("node-fetch")).default(at(where), {method: "POST"}));
add("undici", ["closed", "slow"], async (where) =>
  (await load("undici")).request(at(where), {method: "POST", headersTimeout: waitFor(where)}));
add("openai", ["closed", "slow", ...STATUSES, "403", "404"], async (where) => {
  const OpenAI = (await load("openai")).default;
  const client = new OpenAI({apiKey: "k", baseURL: at(where), timeout: waitFor(where), maxRetries: 0});
  await client.chat.completions.create({model: "m", messages: [{role: "user", content: "hello"}]});
});
add("anthropic", ["closed", "slow", ...STATUSES, "529"], async (where) => {
  const Anthropic = (await load("@anthropic-ai/sdk")).default;
  const client = new Anthropic({apiKey: "k", baseURL: at(where), timeout: waitFor(where), maxRetries: 0});
  await client.messages.create({model: "m", max_tokens: 10, messages: [{role: "user", content: "hello"}]});
});
add("pg", ["closed", "silent", "pg_auth", "pg_starting", "pg_full"], async (where) => {
  const {default: pg} = await load("pg");
  const client = new pg.Client({host: "127.0.0.1", port: ports[where], user: "worker", password: "p", database: "d",
    connectionTimeoutMillis: waitFor(where)});
  client.on("error", () => {});
  await client.connect();
});
add("ioredis", ["closed", "silent", "redis_auth"], async (where) => {
  const {default: Redis} = await load("ioredis");
  const client = new Redis({port: ports[where], password: where === "redis_auth" ? "p" : undefined, commandTimeout: waitFor(where),
    maxRetriesPerRequest: 0, retryStrategy: () => 50, enableReadyCheck: false});
  client.on("error", () => {});
  try {
    await client.get("k");
  } finally {
    client.disconnect();
  }
});
add("net", ["closed"], () => new Promise((_, fail) => net.connect(ports.closed, "127.0.0.1").on("error", fail)));
cases["net localhost"] = () => new Promise((_, fail) => net.connect(ports.closed, "localhost").on("error", fail));
cases["dns"] = () => fetch("http://nobody.invalid/");
cases["bug TypeError"] = async () => null.price;
cases["bug ReferenceError"] = async () => orderId;
cases["bug RangeError"] = async () => new Array(-1);
cases["json"] = async () => JSON.parse("{");
cases["business error with a refused connection as its cause"] = async () => {
  class OrderRejected extends Error {
    name = "OrderRejected";
  }
  try {
    await cases["net closed"]();
  } catch (error) {
    throw new OrderRejected("note: 503, validation", {cause: error});
  }
};
cases["business error that quotes"] = async () => {
  throw new Error('the note "connect ECONNREFUSED, 503, validation failed" is too long');
};

function masked(text) {
  for (const port of Object.values(ports)) text = text.replaceAll(new RegExp(`\\b${port}\\b`, "g"), "PORT");
  return text;
}

for (const [name, run] of Object.entries(cases)) {
  let error = null;
  try {
    await run();
  } catch (caught) {
    error = caught;
  }
  if (error === null) throw new Error(`${name}: nothing was raised`);
  const type = error.constructor?.name && error.name === "Error" ? error.constructor.name : error.name;
  const trace = `${import.meta.url}:1\n\n${inspect(error)}\n\nNode.js ${process.version}\n`;
  console.log(JSON.stringify({case: `node ${name}`, type, message: masked(error.message), trace}));
}
process.exit(0);
