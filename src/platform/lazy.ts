/** Work that is done with the first call for it, and once. */

/**
 * A failed attempt is repeated by the next call. Also for a module that is loaded on demand: Node.js resolves the path of
 * an `import()` again each time, which takes longer than many a call of what it imports.
 */
export function lazy<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  const attempt = (): Promise<T> =>
    create().catch((error: unknown) => {
      created = undefined;
      throw error;
    });
  return () => (created ??= attempt());
}
