"use strict";
(() => {
  document.documentElement.classList.add("js");
  const NS = "http://www.w3.org/2000/svg";
  const group = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const number = (text) => Number(text.replace(/,/g, "")) || 0;
  const draw = (parent, name, attributes, text) => {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };
  // Steps of an axis up to `most`: 1, 2 or 5 times a power of ten, at most five of them.
  const ticks = (most, whole) => {
    if (!(most > 0)) return [0, 1];
    let step = Math.pow(10, Math.floor(Math.log10(most)) - 1);
    for (const times of [2, 2.5, 2, 2, 2.5, 2]) { if (most / step > 5) step *= times; }
    if (whole) step = Math.max(1, Math.round(step));
    const all = [];
    for (let at = 0; at < most + step; at += step) all.push(Number(at.toPrecision(10)));
    return all;
  };
  const short = (n) => {
    for (const [size, unit] of [[1e9, " G"], [1e6, " M"]]) if (n >= size) return Number((n / size).toPrecision(4)) + unit;
    return n >= 1000 ? group(Math.round(n)) : String(Number(n.toPrecision(4)));
  };
  const LEFT = 64, RIGHT = 14, TOP = 22, BOTTOM = 40;
  // Axes of a plot. `labels` are [share of the width, text].
  const frame = (svg, width, height, scale, labels, x, y, suffix) => {
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    const floor = height - BOTTOM, top = scale[scale.length - 1];
    const up = (value) => floor - (value / top) * (floor - TOP);
    for (const tick of scale) {
      draw(svg, "line", { class: tick ? "grid" : "axis", x1: LEFT, x2: width - RIGHT, y1: up(tick), y2: up(tick) });
      draw(svg, "text", { x: LEFT - 8, y: up(tick) + 4, "text-anchor": "end" }, short(tick) + suffix);
    }
    let free = -Infinity;
    for (const [share, text] of labels) {
      const at = LEFT + share * (width - LEFT - RIGHT), half = text.length * 3.4 + 6;
      if (at - half < free || at + half > width + RIGHT) continue;
      free = at + half;
      draw(svg, "line", { class: "axis", x1: at, x2: at, y1: floor, y2: floor + 4 });
      draw(svg, "text", { x: at, y: floor + 18, "text-anchor": "middle" }, text);
    }
    draw(svg, "text", { x: (LEFT + width - RIGHT) / 2, y: height - 4, "text-anchor": "middle" }, x);
    draw(svg, "text", { x: 0, y: 11 }, y);
    return up;
  };
  const rows = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  const start = (label) => label.split("\u2013")[0];
  const every = (data, room) => Math.max(1, Math.ceil(data.length / room));
  const bars = (figure, svg, width) => {
    const data = rows(figure.querySelector("table")), height = 240;
    const step = (width - LEFT - RIGHT) / data.length, skip = every(data, width / 70);
    const most = Math.max(...data.map((row) => number(row[1])));
    const labels = data.map((row, at) => [(at + .5) / data.length, start(row[0])]).filter((_, at) => at % skip === 0);
    const up = frame(svg, width, height, ticks(most, true), labels, figure.dataset.x, figure.dataset.y, "");
    data.forEach((row, at) => {
      const value = number(row[1]), wide = Math.min(Math.max(step - Math.min(step * .15, 2), .5), 64);
      const box = { class: "bar", x: LEFT + (at + .5) * step - wide / 2, y: up(value), width: wide, height: Math.max(up(0) - up(value), 0) };
      draw(draw(svg, "rect", box), "title", {}, `${row[0]}: ${row[1]}`);
    });
  };
  const DASHES = ["", "7 4", "2 3", "9 3 2 3"], COLOURS = ["one", "two", "three", "four"];
  const look = (at) => ({ class: "line", style: `stroke: var(--${COLOURS[at]})`, "stroke-dasharray": DASHES[at] });
  const lines = (figure, svg, width) => {
    const table = figure.querySelector("table"), data = rows(table), height = 300;
    const names = [...table.tHead.rows[0].cells].slice(2).map((cell) => cell.textContent);
    const most = Math.max(...data.flatMap((row) => row.slice(2).map(number)));
    const skip = every(data, width / 70), across = width - LEFT - RIGHT, left = (at) => LEFT + ((at + .5) / data.length) * across;
    const labels = data.map((row, at) => [(at + .5) / data.length, start(row[0])]).filter((_, at) => at % skip === 0);
    const up = frame(svg, width, height, ticks(most, false), labels, figure.dataset.x, figure.dataset.y, "");
    names.forEach((name, at) => {
      const points = data.map((row, place) => `${left(place).toFixed(1)},${up(number(row[at + 2])).toFixed(1)}`);
      draw(draw(svg, "polyline", { ...look(at), points: points.join(" ") }), "title", {}, name);
    });
    if (!figure.querySelector(".keys")) {
      const keys = document.createElement("ul");
      keys.className = "keys";
      names.forEach((name, at) => {
        const item = document.createElement("li");
        const sample = draw(item, "svg", { viewBox: "0 0 34 12", "aria-hidden": "true" });
        draw(sample, "line", { ...look(at), x1: 0, x2: 34, y1: 6, y2: 6 });
        item.append(name);
        keys.append(item);
      });
      svg.before(keys);
    }
  };
  const redraws = [];
  for (const figure of document.querySelectorAll("figure[data-kind]")) {
    const details = figure.querySelector("details"), caption = figure.querySelector("figcaption");
    details.open = false;
    const svg = document.createElementNS(NS, "svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", caption.textContent + "; the numbers are in the table below");
    details.before(svg);
    const kind = figure.dataset.kind === "bars" ? bars : lines;
    redraws.push(() => kind(figure, svg, Math.max(figure.clientWidth, 240)));
  }
  const depth = (figure) => {
    const all = JSON.parse(document.getElementById("depths").textContent);
    const [choice, plot, said, body] = ["select", ".plot", "[aria-live]", "tbody"].map((which) => figure.querySelector(which));
    const svg = draw(plot, "svg", { "aria-hidden": "true" });
    const buttons = Object.fromEntries([...figure.querySelectorAll("button")].map((button) => [button.value, button]));
    all.forEach((reference, at) => choice.append(new Option(reference.name, at)));
    let [shown, from, to] = [all[0], 0, all[0].bins.length];
    const least = () => Math.min(20, shown.bins.length);
    const place = (bin) => Math.min(bin * shown.width, shown.letters);
    const letters = (bin) => place(bin + 1) - place(bin);
    const mean = (first, last) => {
      let sum = 0;
      for (let bin = first; bin < last; bin++) sum += shown.bins[bin] / 100 * letters(bin);
      return last > first ? sum / (place(last) - place(first)) : 0;
    };
    const paint = () => {
      const width = Math.max(figure.clientWidth, 240), seen = shown.bins.slice(from, to), across = width - LEFT - RIGHT;
      const count = Math.max(2, Math.floor(width / 130)), span = place(to) - place(from);
      const scale = ticks(span, true), step = scale[1], labels = [];
      for (let at = Math.ceil((place(from) + 1) / step) * step; at <= place(to); at += step) labels.push([(at - place(from) - .5) / span, short(at)]);
      if (labels.length < 2) labels.unshift([0, group(place(from) + 1)]);
      const up = frame(svg, width, 280, ticks(Math.max(...seen) / 100, false), labels, "Position on the reference", "Mean depth", "");
      let path = "";
      seen.forEach((value, at) => {
        const left = LEFT + (place(from + at) - place(from)) / span * across, right = LEFT + (place(from + at + 1) - place(from)) / span * across;
        path += `${at ? "L" : "M"}${left.toFixed(1)} ${up(value / 100).toFixed(1)}L${right.toFixed(1)} ${up(value / 100).toFixed(1)}`;
      });
      draw(svg, "path", { class: "area", d: `${path}L${width - RIGHT} ${up(0)}L${LEFT} ${up(0)}Z` });
      draw(svg, "path", { class: "outline", d: path });
      said.textContent = `${shown.name}, ${group(place(from) + 1)} to ${group(place(to))}: mean depth ${mean(from, to).toFixed(2)}`;
      const part = Math.max(1, Math.ceil((to - from) / 20));
      body.replaceChildren();
      for (let bin = from; bin < to; bin += part) {
        const end = Math.min(bin + part, to), row = body.insertRow();
        row.insertCell().textContent = `${group(place(bin) + 1)}\u2013${group(place(end))}`;
        row.insertCell().textContent = mean(bin, end).toFixed(2);
        for (const cell of row.cells) cell.className = "number";
      }
      buttons.in.disabled = to - from <= least();
      buttons.out.disabled = buttons.whole.disabled = to - from === shown.bins.length;
      buttons.left.disabled = from === 0;
      buttons.right.disabled = to === shown.bins.length;
    };
    const move = (bins, middle) => {
      const span = Math.max(least(), Math.min(Math.round(bins), shown.bins.length));
      from = Math.max(0, Math.min(Math.round(middle - span / 2), shown.bins.length - span));
      to = from + span;
      paint();
    };
    const steps = {
      in: () => move((to - from) / 2, (from + to) / 2),
      out: () => move((to - from) * 2, (from + to) / 2),
      left: () => move(to - from, (from + to) / 2 - Math.max(1, (to - from) / 4)),
      right: () => move(to - from, (from + to) / 2 + Math.max(1, (to - from) / 4)),
      whole: () => move(shown.bins.length, 0),
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "whole" };
    for (const name in buttons) buttons[name].addEventListener("click", steps[name]);
    plot.addEventListener("keydown", (event) => {
      const step = keys[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      steps[step]();
    });
    choice.addEventListener("change", () => {
      shown = all[Number(choice.value)];
      steps.whole();
    });
    figure.querySelector("details").open = false;
    redraws.push(paint);
  };
  const figure = document.getElementById("depth-figure");
  if (figure) depth(figure);
  const redraw = () => redraws.forEach((draw) => draw());
  redraw();
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(redraw);
  });
})();
