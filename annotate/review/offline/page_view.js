// What is shown: the rows of questions, the item, how far the work is.

const LEVEL_KEYS = "0123456789qweyuiopfghjkl"; // without the letters that do something else
const LABEL_KEYS = "1234567890qweyuiopfghjkl";
const STATES = { todo: "To do", draft: "Draft", submitted: "Submitted", discarded: "Discarded" };
const FILTERS = { all: "All", ...STATES, draft: "Drafts" };
const MARKS = { open: "open", optional: "may stay open", changed: "changed", suggested: "suggested", "": "" };

const rows = new Map(); // question to its element

function build() {
  let dimension = "";
  for (const question of review.questions) {
    if (question.dimension !== dimension) {
      const heading = element("h3", {}, question.dimension);
      heading.style.setProperty("--d", `var(--d${byId("questions").querySelectorAll("h3").length % 5})`);
      byId("questions").append(heading);
      dimension = question.dimension;
    }
    byId("questions").append(row(question));
  }
  for (const name of Object.keys(FILTERS)) {
    const button = element("button", { type: "button" });
    button.dataset.filter = name;
    byId("filters").append(button);
  }
  byId("scale").textContent = review.scale;
  byId("total").textContent = review.items.length;
  byId("number").max = review.items.length;
}

function row(question) {
  const id = `q-${question.name}`;
  const head = element("button", { type: "button", className: "head", "aria-controls": id },
    element("span", { className: "title", id: `${id}-title` }, question.title),
    element("span", { className: "answer" }), element("span", { className: "mark" }));
  head.addEventListener("click", () => activate(asked().indexOf(question)));
  const options = element("div", { className: "options" });
  for (const [place, option] of question.options.entries()) {
    option.key = (question.kind === "rating" ? LEVEL_KEYS : LABEL_KEYS)[place] ?? "";
    const means = element("span", { className: "means" }, element("span", {}, option.definition));
    if (option.text !== option.key) means.prepend(element("b", {}, option.text));
    const button = element("button", { type: "button", tabIndex: -1 },
      element("kbd", {}, option.key.toUpperCase()), means, element("span", { className: "hint" }));
    button.addEventListener("click", () => {
      activate(asked().indexOf(question));
      choose(question, option);
    });
    options.append(button);
  }
  const rubric = element("div", { className: "rubric", id },
    element("p", { id: `${id}-asks` }, question.asks), element("p", { className: "not" }, question.not), options);
  rubric.children[1].hidden = !question.not;
  const made = element("div", {
    className: "asked", role: "group", "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-asks`,
  }, head, rubric);
  rows.set(question, made);
  return made;
}

function paint() {
  const { values, note } = answers();
  for (const [question, made] of rows) {
    made.hidden = !asked().includes(question);
    paintQuestion(question, made, values[question.name], review.items[position].suggestions[question.name]);
  }
  for (const heading of byId("questions").querySelectorAll("h3")) {
    let next = heading.nextElementSibling;
    while (next?.hidden) next = next.nextElementSibling;
    heading.hidden = !next?.matches(".asked");
  }
  if (byId("note").value !== note) byId("note").value = note;
  paintStanding();
}

const given = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

function paintQuestion(question, made, value, suggestion) {
  const chosen = question.options.filter((option) => given(value).includes(option.value));
  const [, answer, mark] = made.firstChild.children;
  answer.replaceChildren(...chosen.length === 1
    ? [element("b", {}, chosen[0].text), element("span", { className: "quiet" }, chosen[0].definition && ` ${chosen[0].definition}`)]
    : [element("b", {}, chosen.map((option) => option.text).join(", "))]);
  made.dataset.mark = !chosen.length ? (question.required ? "open" : "optional")
    : !suggestion ? "" : same(value, suggestion.value) ? "suggested" : "changed";
  const stands = made.dataset.mark === "suggested";
  mark.replaceChildren(...(stands ? confident(suggestion) : [MARKS[made.dataset.mark]]));
  for (const [place, button] of [...made.querySelectorAll(".options button")].entries()) {
    const option = question.options[place];
    button.setAttribute("aria-pressed", String(chosen.includes(option)));
    const hint = button.lastChild;
    const isSuggested = Boolean(suggestion) && given(suggestion.value).includes(option.value);
    hint.replaceChildren(...isSuggested ? hints(suggestion) : []);
  }
}

function confident({ confidence }) {
  if (confidence === null) return [MARKS.suggested];
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--share", `${100 * confidence}%`);
  return [`${MARKS.suggested} `, bar, confidence.toFixed(2)];
}

const hints = (suggestion) => [...confident(suggestion), ` ${suggestion.agent}`];

function counted() {
  const counts = { todo: 0, draft: 0, submitted: 0, discarded: 0 };
  for (let index = 0; index < entries.length; index += 1) counts[status(index)] += 1;
  return counts;
}

function paintStanding() {
  const counts = counted();
  const total = entries.length;
  byId("progress").textContent =
    `${counts.submitted + counts.discarded} of ${total} done, ${counts.todo + counts.draft} left`;
  for (const bar of document.querySelectorAll(".track i")) {
    bar.style.setProperty("--share", `${(100 * counts[bar.className]) / total}%`);
  }
  for (const button of byId("filters").children) {
    const name = button.dataset.filter;
    button.textContent = `${FILTERS[name]} ${name === "all" ? total : counts[name]}`;
    button.setAttribute("aria-pressed", String(name === filter));
    button.disabled = name !== "all" && !counts[name];
  }
  byId("number").value = position + 1;
  byId("reviewer").textContent = reviewer || "Who reviews?";
  const unfiled = entries.filter(({ saved }) => saved && saved.time > filed).length;
  byId("save").textContent = unfiled ? `Save answers · ${unfiled} new` : "Save answers";
  const { edit } = entries[position];
  const state = byId("item").querySelector(".state");
  state.className = `chip state ${edit ? "edited" : status(position)}`;
  const changed = status(position) === "todo" ? "In work" : `${STATES[status(position)]}, changed since`;
  state.textContent = edit ? changed : STATES[status(position)];
}

function paintItem() {
  const item = review.items[position];
  const text = (kind, content) => element("div", { className: `text ${kind}`, dir: "auto" }, content);
  const why = item.reasons.map((reason) => reason.replaceAll("_", " ")).join(", ");
  const about = element("div", { className: "about" },
    element("b", {}, [item.benchmark, item.subset].filter(Boolean).join(" / ")),
    element("code", {}, item.item_id), element("span", { className: "chip state" }));
  if (why) about.append(element("span", { className: "chip why" }, `here for: ${why}`));
  if (item.mode === "blind") about.append(element("span", { className: "chip" }, "without suggestions"));
  const parts = [about];
  if (item.context) parts.push(element("h2", {}, "Context"), text("context", item.context));
  parts.push(element("h2", {}, "Question"), text("stem", item.question));
  if (item.choices.length) {
    parts.push(element("h2", {}, "Choices"), element("ol", { className: "choices" }, ...item.choices.map((choice, place) => {
      const isKey = place === item.answer_index;
      const line = element("li", { className: isKey ? "key" : "" },
        element("span", { className: "letter" }, place < 26 ? String.fromCharCode(65 + place) : place + 1), text("", choice));
      if (isKey) line.append(element("span", { className: "tag" }, "✓ key"));
      return line;
    })));
  }
  if (item.answer_index === null) {
    const answer = item.answer_text;
    parts.push(element("h2", {}, "Answer"),
      answer === null ? element("p", { className: "quiet" }, "No key is given.") : text("", answer));
  }
  byId("item").replaceChildren(...parts);
}
