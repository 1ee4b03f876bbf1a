// Chromium without a window, driven through a pipe, and a server of static files on this machine.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Serves the files of a folder. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    try {
      const content = readFileSync(join(folder, path.endsWith("/") ? path + "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path) || ".html"] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}

/** Starts Chromium. */
export class Browser {
  #process;
  #profile = mkdtempSync(join(tmpdir(), "swalign-chromium-"));
  #calls = new Map();
  #next = 1;
  /** Called with each event: its session, method and parameters. */
  onEvent = () => {};

  constructor(flags = []) {
    const fixed = [
      "--headless=new", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${this.#profile}`, "--no-first-run",
      "--disable-background-networking", "--disable-component-update",
      // Pages without a window would run at a low priority.
      "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--disable-background-timer-throttling",
    ];
    this.#process = spawn("chromium", [...fixed, ...flags], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    let rest = "";
    this.#process.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      messages.forEach((message) => this.#take(JSON.parse(message)));
    });
  }

  #take({ id, result, error, method, params, sessionId }) {
    if (id === undefined) return this.onEvent({ session: sessionId, method, params });
    const { resolve, reject } = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }

  send(method, params = {}, sessionId) {
    const id = this.#next++;
    this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  /** Opens a page, and returns once it is loaded. */
  async open(url, size = { width: 1280, height: 900 }) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    await this.send("Network.enable", {}, sessionId);
    await this.send("Page.enable", {}, sessionId);
    // Requests of workers are events of the workers.
    await this.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }, sessionId);
    await page.resize(size);
    await this.send("Page.navigate", { url }, sessionId);
    await page.until("document.readyState === 'complete'");
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.send("Browser.close").catch(() => {});
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, session) {
    Object.assign(this, { browser, session });
  }

  /** The value of an expression in the page, which may be a promise. */
  async value(expression) {
    const parameters = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await this.browser.send("Runtime.evaluate", parameters, this.session);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Calls a function in the page with values that JSON can hold. */
  call(code, ...values) {
    return this.value(`(${code})(...${JSON.stringify(values)})`);
  }

  /** Waits until an expression holds. */
  async until(expression, seconds = 180) {
    const end = Date.now() + seconds * 1000;
    while (!(await this.value(expression))) {
      if (Date.now() > end) throw new Error(`after ${seconds} s this does not hold: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async press(key, code = key, text) {
    const event = { key, code, text, windowsVirtualKeyCode: { Tab: 9, Enter: 13, ArrowRight: 39, ArrowDown: 40, " ": 32 }[key] };
    await this.browser.send("Input.dispatchKeyEvent", { type: "keyDown", ...event }, this.session);
    await this.browser.send("Input.dispatchKeyEvent", { type: "keyUp", ...event }, this.session);
  }

  resize({ width, height, scheme = "light" }) {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    return Promise.all([
      this.browser.send("Emulation.setDeviceMetricsOverride", metrics, this.session),
      this.browser.send("Emulation.setEmulatedMedia", { features }, this.session),
    ]);
  }

  /** A PNG of the whole page. */
  async screenshot() {
    const { data } = await this.browser.send("Page.captureScreenshot", { captureBeyondViewport: true }, this.session);
    return Buffer.from(data, "base64");
  }
}
