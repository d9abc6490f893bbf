/** A checkbox with its label. */

import type { ComponentChildren } from "preact";

interface CheckProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  class?: string;
  children: ComponentChildren;
}

export const Check = ({ checked, onChange, class: more = "", children }: CheckProps) => (
  <label class={`check ${more}`.trim()}>
    <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    <span>{children}</span>
  </label>
);
