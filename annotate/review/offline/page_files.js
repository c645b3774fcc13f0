// Names, files and keys: what the reviewer does beside answering.

function begin(name) {
  reviewer = name;
  if (reviewer) {
    kept.write(PAGE_KEY, { ...kept.read(PAGE_KEY), reviewer });
    prefer({ reviewer });
  }
  recall();
  filter = "all";
  const first = entries.findIndex((_, index) => status(index) === "todo");
  show(Math.max(first, 0));
}

function prefer(preferences) {
  kept.write(PERSON_KEY, { ...kept.read(PERSON_KEY), ...preferences });
  warn();
}

function ask() {
  byId("name").value = reviewer || kept.read(PERSON_KEY)?.reviewer || "";
  byId("who-wrong").textContent = "";
  byId("who").showModal();
  byId("name").select();
}

byId("who").querySelector("form").addEventListener("submit", (event) => {
  const name = byId("name").value.trim();
  if (name && !/[#:\p{C}]/u.test(name)) return begin(name);
  event.preventDefault();
  byId("who-wrong").textContent = "A name without #, : and control characters, please.";
});
byId("who").addEventListener("close", () => reviewer || ask());

function saveFile() {
  const time = new Date().toISOString();
  const responses = review.items.flatMap((item, index) => {
    const { saved } = entries[index];
    const about = { item_id: item.item_id, content_hash: item.content_hash, mode: item.mode };
    return saved ? [{ ...about, ...saved, suggested: suggested(item) }] : [];
  });
  const { format, version, page, project, catalogue, dimension } = review;
  const questions = review.questions.map((question) => question.name);
  const file = { format, version, page, project, catalogue, dimension, questions, reviewer, responses };
  const text = `${JSON.stringify(file, null, 1)}\n`;
  const link = element("a", { download: fileName() });
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  filed = time;
  const known = kept.read(PAGE_KEY);
  kept.write(PAGE_KEY, { ...known, filed: { ...known?.filed, [reviewer]: filed } });
  const open = entries.filter(({ edit }) => edit).length;
  const left = open ? ` Changes that were not submitted or saved as a draft are not in it (${open}).` : "";
  paintStanding();
  say(`${responses.length} responses are in ${fileName()}: hand it to whoever runs the review.${left}`);
}

function fileName() {
  const parts = reviewer === review.reviewer ? [review.name] : [review.name, reviewer];
  return `${parts.join("-").replace(/[^\p{L}\p{N}._-]+/gu, "_")}.json`;
}

async function takeOver(file) {
  let saved;
  try { saved = JSON.parse(await file.text()); }
  catch { saved = null; }
  byId("help").close();
  if (saved?.format !== review.format || saved.page !== review.page) {
    return say(`${file.name} holds no answers to this page.`, true);
  }
  begin(saved.reviewer);
  const places = new Map(review.items.map((item, index) => [item.item_id, index]));
  let taken = 0;
  for (const { item_id, status: kind, values, note, time } of saved.responses) {
    const index = places.get(item_id);
    if (index === undefined || entries[index].saved?.time >= time) continue;
    entries[index] = { saved: { status: kind, values, note, time }, edit: null };
    keep(index);
    taken += 1;
  }
  begin(saved.reviewer);
  return say(`${taken} of ${saved.responses.length} responses taken over; the others were here already.`);
}

function paintTheme() {
  const theme = kept.read(PERSON_KEY)?.theme ?? "auto";
  document.documentElement.style.colorScheme = theme === "auto" ? "light dark" : theme;
  byId("theme").textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[theme];
}

function turnTheme() {
  const next = { auto: "light", light: "dark", dark: "auto" };
  prefer({ theme: next[kept.read(PERSON_KEY)?.theme ?? "auto"] });
  paintTheme();
}

function paintRubrics() {
  const all = Boolean(kept.read(PERSON_KEY)?.rubrics);
  byId("questions").classList.toggle("all", all);
  byId("rubrics").setAttribute("aria-pressed", String(all));
}

function turnRubrics() {
  prefer({ rubrics: !kept.read(PERSON_KEY)?.rubrics });
  paintRubrics();
  activate(active);
}

const KEYS = {
  Enter: () => save("submitted"),
  s: () => save("draft"),
  d: () => save("discarded"),
  x: takeBack,
  n: () => byId("note").focus(),
  r: turnRubrics,
  "?": () => byId("help").showModal(),
};
const MOVES = {
  ArrowUp: () => move(-1),
  ArrowDown: () => move(1),
  ArrowLeft: () => step(-1),
  ArrowRight: () => step(1),
  PageUp: () => byId("item").scrollBy({ top: -0.9 * byId("item").clientHeight }),
  PageDown: () => byId("item").scrollBy({ top: 0.9 * byId("item").clientHeight }),
};

function press(event) {
  if (event.isComposing || document.querySelector("dialog[open]")) return;
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  const act = event.target.closest("input, textarea") ? inField(event) : modified ? null : meant(event);
  if (!act) return;
  event.preventDefault();
  act();
}

function inField({ key, ctrlKey, metaKey, target }) {
  if (key === "Escape") return () => activate(active);
  return key === "Enter" && (ctrlKey || metaKey) && target.matches("textarea") ? KEYS.Enter : null;
}

function meant(event) {
  if (event.key in MOVES) return MOVES[event.key];
  if (event.repeat) return null; // a key held down must not answer item after item
  if (event.key === "Enter" && event.target.closest("header, footer, .lead")) return null;
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1]; // some keyboards shift their digits
  const option = current()?.options.find(({ key }) => key && (key === pressed || key === digit));
  return option ? () => choose(current(), option) : KEYS[pressed];
}

document.addEventListener("keydown", press);
byId("note").addEventListener("input", () => {
  change(answers().values, byId("note").value);
  paintStanding();
});
byId("number").addEventListener("change", () => {
  const index = byId("number").valueAsNumber - 1;
  if (review.items[index]) show(index);
  else paintStanding();
});
const clicks = {
  previous: MOVES.ArrowLeft, next: MOVES.ArrowRight, discard: KEYS.d, draft: KEYS.s, submit: KEYS.Enter,
  reviewer: ask, theme: turnTheme, rubrics: turnRubrics, keys: KEYS["?"], save: saveFile, open: () => byId("file").click(),
};
for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
byId("file").addEventListener("change", () => {
  const [file] = byId("file").files;
  byId("file").value = "";
  if (file) takeOver(file);
});
byId("filters").addEventListener("click", ({ target }) => {
  if (!target.dataset.filter) return;
  filter = target.dataset.filter;
  const first = entries.findIndex((_, index) => inFilter(index));
  show(inFilter(position) ? position : first);
});
window.addEventListener("storage", ({ key }) => {
  const index = review.items.findIndex((item) => key === entryKey(item));
  if (index < 0) return;
  entries[index] = kept.read(key) ?? { saved: null, edit: null };
  paint();
});
window.addEventListener("beforeunload", (event) => {
  if (!kept.works && entries.some(({ saved, edit }) => edit || saved?.time > filed)) event.preventDefault();
});

build();
paintTheme();
paintRubrics();
begin(review.reviewer || kept.read(PAGE_KEY)?.reviewer || "");
if (!reviewer) ask();
