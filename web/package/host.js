// The functions that the engine imports. They pass what it writes to the receiver of the current run.

const nobody = { output() {}, message() {}, progress() {}, summary() {} };
let receiver = nobody;

/** Sets the receiver of the next run. */
export function receive(next) {
  receiver = { ...nobody, ...next };
}

// The bytes are a view of the engine's memory.
export const output = (bytes) => receiver.output(bytes.slice());
export const message = (text) => receiver.message(text);
export const progress = (stage, bytes, size, records) => receiver.progress({ stage, bytes, size, records });
export const summary = (json) => receiver.summary(JSON.parse(json));

/** Whether this browser can suspend the engine while the GPU works. */
export const canSuspend = typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function";

let channel;
/** Resolves after this time. Timers wait for at least 4 ms, so short waits use a message. */
function pause(milliseconds) {
  if (milliseconds >= 1) return new Promise((resolve) => setTimeout(resolve, milliseconds));
  channel ??= new MessageChannel();
  return new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
}

export const suspend = canSuspend ? new WebAssembly.Suspending(pause) : () => {};
