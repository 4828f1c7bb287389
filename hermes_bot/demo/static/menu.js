// Knows menus that pop up beside a button: arrow keys move, Enter chooses, Escape closes, focus goes back.

import { h, icon } from "./dom.js";

let open = null;

/** Close the menu that is open; says whether there was one. */
export function closeMenu() {
  if (!open) return false;
  const { menu, opener } = open;
  open = null;
  menu.remove();
  opener.setAttribute("aria-expanded", "false");
  if (opener.isConnected) opener.focus();
  return true;
}

/**
 * Open a menu.
 * @param {HTMLElement} opener the button it belongs to
 * @param {{label: string, run: () => void, icon?: string, style?: string}[]} entries
 */
export function openMenu(opener, entries) {
  const again = open?.opener === opener;
  closeMenu();
  if (again) return;
  const menu = h("div", { class: "menu", role: "menu", "aria-label": opener.getAttribute("aria-label") ?? "Menu" });
  for (const entry of entries) {
    menu.append(h("button", {
      type: "button", role: "menuitem", tabindex: -1, class: entry.style ?? "",
      onclick: () => { closeMenu(); entry.run(); },
    }, entry.icon ? icon(entry.icon) : "", entry.label));
  }
  menu.addEventListener("keydown", (event) => onKey(event, menu));
  document.body.append(menu);
  place(menu, opener);
  opener.setAttribute("aria-expanded", "true");
  open = { menu, opener };
  menu.firstElementChild.focus();
}

function onKey(event, menu) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to !== undefined) items.at(to % items.length).focus();
  else if (event.key === "Tab" || event.key === "Escape") closeMenu();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function place(menu, opener) {
  const at = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = Math.max(8, Math.min(at.right - width, window.innerWidth - width - 8));
  const below = at.bottom + 4;
  menu.style.left = `${left}px`;
  menu.style.top = `${below + height > window.innerHeight - 8 ? Math.max(8, at.top - height - 4) : below}px`;
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.menu.contains(event.target) && !open.opener.contains(event.target)) closeMenu();
});
