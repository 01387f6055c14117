// Filters over the questions; the page is complete without them.
const section = document.getElementById("questions");
const questions = [...section.querySelectorAll("details")];
const texts = questions.map((question) => question.textContent.toLowerCase());
const chosen = {};

const bar = document.createElement("form");
bar.className = "filters";
bar.addEventListener("submit", (event) => event.preventDefault());
for (const name of ["type", "verdict", "evidence", "ended"]) bar.append(choice(name));
const words = Object.assign(document.createElement("input"), { type: "search", placeholder: "words or id" });
words.setAttribute("aria-label", "words or id");
words.addEventListener("input", show);
const count = document.createElement("output");
bar.append(words, count);
section.firstElementChild.after(bar);
show();

function choice(name) {
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.name = name;
  const values = [...new Set(questions.map((question) => question.dataset[name]))].sort();
  for (const value of ["", ...values]) select.append(new Option(value || "all", value));
  select.addEventListener("change", () => {
    chosen[name] = select.value;
    show();
  });
  label.append(`${name} `, select);
  return label;
}

function show() {
  const wanted = words.value.toLowerCase();
  let shown = 0;
  questions.forEach((question, i) => {
    const fits = Object.entries(chosen).every(([name, value]) => !value || question.dataset[name] === value);
    question.hidden = !(fits && texts[i].includes(wanted));
    shown += !question.hidden;
  });
  count.textContent = `${shown} of ${questions.length}`;
}
