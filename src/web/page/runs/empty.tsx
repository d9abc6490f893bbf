/** Shown before the first run: the three ways to start one. */

export const NoRuns = () => (
  <div class="card stack empty">
    <h2>No runs yet</h2>
    <p>Everything you research appears here, with its question, progress, report and cost.</p>
    <ul class="stack">
      <li>
        <h3>Here</h3>
        <p>
          <a href="/start">Ask a question</a>. A search takes seconds; for Deep Research you see the likely cost first.
        </p>
      </li>
      <li>
        <h3>In a terminal</h3>
        <pre tabIndex={0}>
          <code>gemini-search-mcp ask "When is the next total solar eclipse?"</code>
        </pre>
      </li>
      <li>
        <h3>In your assistant</h3>
        <p>
          Ask it to research something with gemini-search-mcp. <code>gemini-search-mcp init</code> connects it.
        </p>
      </li>
    </ul>
  </div>
);
