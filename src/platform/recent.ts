/** Keeps what was last computed from texts that are read again and again. */

/** The least recently used go first; the keys together have at most `maxCharacters`. */
export function createRecent<Value>(maxCharacters: number): (key: string, compute: () => Value) => Value {
  const values = new Map<string, Value>();
  let characters = 0;
  const forget = (key: string): void => {
    if (values.delete(key)) characters -= key.length;
  };
  return (key, compute) => {
    const value = values.get(key) ?? compute();
    // It would make all others go, and then go itself.
    if (key.length > maxCharacters) return value;
    forget(key);
    values.set(key, value);
    characters += key.length;
    for (const [oldest] of values) {
      if (characters <= maxCharacters) break;
      forget(oldest);
    }
    return value;
  };
}
