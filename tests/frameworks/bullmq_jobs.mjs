// BullMQ: jobs that fail, and jobs that are retried and done.
//
// node bullmq_jobs.mjs PORT fail COUNT   adds so many and works them off; each throws
// node bullmq_jobs.mjs PORT retry        retries all that failed, works them off, and prints what each was given
import { createRequire } from "node:module";

const { Queue, Worker } = createRequire(process.env.NODE_PATH + "/")("bullmq");
const [port, verb, count] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: null };
const queue = new Queue("orders", { connection });

async function price(job) {
  if (verb === "fail") throw new TypeError(`no price for ${job.data.pin}`);
  console.log("done", job.data.pin);
}

let wanted;
if (verb === "fail") {
  wanted = Number(count);
  for (let number = 0; number < wanted; number++) await queue.add("price", { pin: `BAD-${number}` }, { attempts: 1 });
} else {
  const failed = await queue.getFailed();
  wanted = failed.length;
  for (const job of failed) await job.retry();
}
const worker = new Worker("orders", price, { connection, autorun: false });
const ended = new Promise((resolve) => {
  let seen = 0;
  const one = () => { if (++seen === wanted) resolve(); };
  worker.on("failed", one);
  worker.on("completed", one);
});
if (wanted > 0) {
  worker.run();
  await ended;
}
console.log("failed", await queue.getFailedCount());
await worker.close();
await queue.close();
process.exit(0);
