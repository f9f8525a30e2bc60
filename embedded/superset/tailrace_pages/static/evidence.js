// Loads the number of rows of each result, two at a time: the queries of a long period take seconds.
"use strict";

const waiting = [...document.querySelectorAll("[data-count]")];

async function load(element) {
  element.textContent = "counting …";
  const answer = await fetch(element.dataset.count, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(String(answer.status));
  const { rows } = await answer.json();
  element.textContent = `${rows.toLocaleString("en-US")} ${rows === 1 ? "row" : "rows"}`;
}

async function work() {
  while (waiting.length) {
    const element = waiting.shift();
    await load(element).catch(() => { element.textContent = "number of rows unknown"; });
  }
}

work();
work();

// Choosing servers chooses "Only these".
for (const list of document.querySelectorAll("select[name=servers]")) {
  list.addEventListener("change", () => {
    list.form.querySelector("input[value='named servers']").checked = list.selectedOptions.length > 0;
    list.form.querySelector("input[value='all servers']").checked = list.selectedOptions.length === 0;
  });
}
