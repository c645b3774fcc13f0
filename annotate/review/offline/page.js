"use strict";
// Texts of items reach the document through textContent alone: whatever they hold is text.

const review = JSON.parse(document.getElementById("review").textContent);

const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// What is kept in the browser: one entry an item, under the page's id and the reviewer's name,
// so that neither pages nor people mix.

const kept = {
  works: true,
  read(key) {
    try { return JSON.parse(localStorage.getItem(key)); }
    catch { return null; }
  },
  write(key, value) {
    try { localStorage.setItem(key, JSON.stringify(value)); }
    catch { this.works = false; }
  },
};
const PAGE_KEY = `benchprism-review/${review.page}`;
const PERSON_KEY = "benchprism-review";
const entryKey = (item) => `${PAGE_KEY}/${encodeURIComponent(reviewer)}/${item.item_id}`;

let reviewer = "";
let entries = []; // of each item: {saved: response or null, edit: answers not saved yet or null}
let position = 0; // of the item that is shown
let active = 0; // position of the question that number keys answer
let filter = "all";
let filed = ""; // when the answers were last written to a file

const status = (index) => entries[index].saved?.status ?? "todo";
const inFilter = (index) => filter === "all" || status(index) === filter;
const suggested = (item) =>
  Object.fromEntries(Object.entries(item.suggestions).map(([name, { value }]) => [name, value]));
const before = (index) =>
  entries[index].saved ?? { values: suggested(review.items[index]), note: "" };
const answers = () => entries[position].edit ?? before(position);
const asked = () => {
  const { kind } = review.items[position];
  return review.questions.filter((q) => !q.asked_of || q.asked_of === kind);
};
const current = () => asked()[active];
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function keep(index) {
  kept.write(entryKey(review.items[index]), entries[index]);
  warn();
}

function recall() {
  entries = review.items.map((item) => kept.read(entryKey(item)) ?? { saved: null, edit: null });
  filed = kept.read(PAGE_KEY)?.filed?.[reviewer] ?? "";
}

function change(values, note) {
  const base = before(position);
  const names = review.questions.map((q) => q.name).filter((name) => name in values);
  const ordered = Object.fromEntries(names.map((name) => [name, values[name]]));
  const unchanged = note === base.note && names.length === Object.keys(base.values).length
    && names.every((name) => same(ordered[name], base.values[name]));
  entries[position].edit = unchanged ? null : { values: ordered, note };
  keep(position);
}

// Answering

function choose(question, option) {
  const { values: old, note } = answers();
  const values = { ...old };
  if (question.kind === "labels") {
    const labels = toggled(question, old[question.name] ?? [], option.value);
    if (labels.length) values[question.name] = labels;
    else delete values[question.name];
  } else {
    values[question.name] = option.value;
  }
  change(values, note);
  paint();
  if (question.kind !== "labels") move(1);
}

function toggled(question, labels, chosen) {
  if (labels.includes(chosen)) return labels.filter((label) => label !== chosen);
  const others = chosen === review.none ? [] : labels.filter((label) => label !== review.none);
  return question.options.map(({ value }) => value).filter((v) => v === chosen || others.includes(v));
}

function takeBack() {
  if (!current()) return;
  const { values, note } = answers();
  const { [current().name]: gone, ...rest } = values;
  change(rest, note);
  paint();
}

function save(kind) {
  const { values, note } = answers();
  const missing = asked().filter((q) => q.required && !(q.name in values));
  const refused = kind === "submitted" && missing.length;
  for (const question of review.questions) {
    rows.get(question).classList.toggle("missing", Boolean(refused) && missing.includes(question));
  }
  if (refused) {
    activate(asked().indexOf(missing[0]));
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
    return say(`Not submitted: “${missing[0].title}”${more} has no answer yet.`, true);
  }
  const list = review.items.map((_, index) => index).filter(inFilter);
  const time = new Date().toISOString();
  entries[position] = { saved: { status: kind, values, note, time }, edit: null };
  keep(position);
  const done = { submitted: "Submitted", draft: "Draft saved", discarded: "Discarded" }[kind];
  say(`${done}: item ${position + 1}.`);
  goOn(list);
}

function goOn(list) {
  const forward = filter === "all" || filter === "todo"; // looks for what is still to do
  const rest = list.filter((index) => !forward || status(index) === "todo");
  const next = rest.find((index) => index > position) ?? (forward ? rest[0] : undefined);
  if (next !== undefined) return show(next);
  if (counted().todo === 0) say("Every item has been looked at. Save your answers to a file now.");
  if (!inFilter(position)) filter = "all";
  show(position);
}

// Moving

function step(by) {
  let index = position + by;
  while (index >= 0 && index < entries.length && !inFilter(index)) index += by;
  if (index >= 0 && index < entries.length) show(index);
  else say(by > 0 ? "This is the last item here." : "This is the first item here.");
}

function show(index) {
  position = index;
  active = 0;
  for (const row of rows.values()) row.classList.remove("missing");
  paintItem();
  paint();
  activate(0);
  byId("item").scrollTop = 0;
  byId("form").scrollTop = 0;
}

function move(by) {
  activate(Math.min(Math.max(active + by, 0), asked().length - 1));
}

function activate(index) {
  active = index;
  for (const [question, row] of rows) {
    const on = question === current();
    row.classList.toggle("active", on);
    row.firstChild.setAttribute("aria-expanded", String(on));
    for (const button of row.querySelectorAll(".options button")) button.tabIndex = on ? 0 : -1;
  }
  const row = rows.get(current());
  if (!row) return; // nothing is asked of an item of this kind
  row.firstChild.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function say(text, wrong = false) {
  byId("said").textContent = text;
  byId("said").classList.toggle("wrong", wrong);
}

function warn() {
  byId("warning").hidden = kept.works;
  byId("warning").textContent =
    "This browser does not keep your answers: save them to a file before you close the page.";
}
