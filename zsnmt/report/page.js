"use strict";

// Sorting a table by a button in each column's title: numbers by value, the rest by name, empty cells last.
for (const table of document.querySelectorAll("table.sortable")) {
  const titles = [...table.tHead.rows[0].cells];
  const key = (row, place) => {
    const cell = row.cells[place];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const sort = (place, sign) => {
    const compare = (one, other) => {
      const [a, b] = [key(one, place), key(other, place)];
      if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
      return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  };
  titles.forEach((title, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "↕";
    button.setAttribute("aria-label", `sort by ${title.textContent}`);
    button.addEventListener("click", () => {
      const descending = title.getAttribute("aria-sort") === "ascending";
      for (const other of titles) {
        other.removeAttribute("aria-sort");
        other.querySelector("button").textContent = "↕";
      }
      title.setAttribute("aria-sort", descending ? "descending" : "ascending");
      button.textContent = descending ? "↓" : "↑";
      sort(place, descending ? -1 : 1);
    });
    title.append(" ", button);
  });
}

// Choosing and ordering examples. The address says the direction: report.html#de-fr.
const controls = document.getElementById("controls");
if (controls) {
  const [direction, order, strayed] = ["direction", "order", "strayed"].map((id) => document.getElementById(id));
  const all = document.getElementById("all");
  const sections = [...all.children];
  const known = new Set(sections.map((section) => section.id));

  const show = () => {
    let count = 0;
    for (const section of sections) {
      let here = 0;
      for (const example of section.querySelectorAll("dl")) {
        example.hidden = strayed.checked && !example.querySelector("mark");
        here += !example.hidden;
      }
      section.hidden = here === 0 || (direction.value !== "" && section.id !== direction.value);
      count += section.hidden ? 0 : here;
    }
    document.getElementById("count").value = `${count} examples`;
  };
  const arrange = () => {
    const key = (section) => section.dataset[order.value];
    const compare = (one, other) => key(one) - key(other) || key(one).localeCompare(key(other), "en", { numeric: true });
    all.append(...sections.sort(compare));
  };
  const follow = () => {
    const asked = location.hash.slice(1);
    if (known.has(asked)) direction.value = asked;
    show();
    if (known.has(asked)) document.getElementById(asked).scrollIntoView();
  };

  direction.value = sections[0].id;
  direction.addEventListener("change", () => {
    history.replaceState(null, "", `#${direction.value || "examples"}`);
    show();
  });
  order.addEventListener("change", arrange);
  strayed.addEventListener("change", show);
  addEventListener("hashchange", follow);
  controls.hidden = false;
  follow();
}
