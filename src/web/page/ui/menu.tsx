/**
 * A button that shows further buttons below it. A click elsewhere, Escape, leaving with the keyboard, and a button that
 * opens a dialog hide them.
 */

import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface MenuProps {
  label: string;
  /** For screen readers, where the label is a sign. */
  name?: string;
  children: ComponentChildren;
}

export function Menu({ label, name, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const leave = ({ target }: Event): void => {
      if (menu.current?.open === true && target instanceof Node && !menu.current.contains(target))
        menu.current.open = false;
    };
    const escape = ({ key }: KeyboardEvent): void => {
      if (key !== "Escape" || menu.current?.open !== true) return;
      const hadFocus = menu.current.contains(document.activeElement);
      menu.current.open = false;
      if (hadFocus) menu.current.querySelector("summary")?.focus();
    };
    const events = ["pointerdown", "focusin"] as const;
    for (const event of events) document.addEventListener(event, leave);
    document.addEventListener("keydown", escape);
    return () => {
      for (const event of events) document.removeEventListener(event, leave);
      document.removeEventListener("keydown", escape);
    };
  }, []);
  const closeForDialog = ({ target }: TargetedMouseEvent<HTMLElement>): void => {
    if (menu.current === null || !(target instanceof Element) || target.closest("[aria-haspopup]") === null) return;
    // The dialog restores the focus to it.
    menu.current.querySelector("summary")?.focus();
    menu.current.open = false;
  };
  return (
    <details class="menu" ref={menu}>
      <summary class={name === undefined ? "button" : "button sign"} aria-label={name} title={name}>
        {label}
      </summary>
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- clicks of the buttons within, by keyboard too */}
      <div class="menu-items" onClick={closeForDialog}>
        {children}
      </div>
    </details>
  );
}
