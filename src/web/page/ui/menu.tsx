/** A button that shows further buttons below it. A click elsewhere, Escape and leaving with the keyboard hide them. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const leave = ({ target }: Event): void => {
      if (menu.current?.open === true && target instanceof Node && !menu.current.contains(target))
        menu.current.open = false;
    };
    const escape = ({ key }: KeyboardEvent): void => {
      // A dialog that a button of the menu has opened closes first.
      if (key !== "Escape" || menu.current?.open !== true || menu.current.querySelector("dialog") !== null) return;
      const hadFocus = menu.current.contains(document.activeElement);
      menu.current.open = false;
      if (hadFocus) menu.current.querySelector("summary")?.focus();
    };
    const events = ["pointerdown", "focusin"] as const;
    for (const name of events) document.addEventListener(name, leave);
    document.addEventListener("keydown", escape);
    return () => {
      for (const name of events) document.removeEventListener(name, leave);
      document.removeEventListener("keydown", escape);
    };
  }, []);
  return (
    <details class="menu" ref={menu}>
      <summary class="button">{label}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}
