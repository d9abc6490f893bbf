/** Reading the chunks of generateContent streams, real and hostile ones. */

import { expect, test } from "vitest";
import { StreamedResponse } from "./response.ts";

function collect(...chunks: unknown[]): StreamedResponse {
  const response = new StreamedResponse();
  for (const chunk of chunks) response.add(chunk);
  return response;
}

const candidate = (fields: Record<string, unknown>) => ({ candidates: [{ index: 0, ...fields }] });

test("a page that was not retrieved is not a source (S5)", () => {
  const url = (name: string) => `https://${name}.example/`;
  const statuses = ["SUCCESS", "ERROR", "PAYWALL", "UNSAFE", "UNSPECIFIED"];
  const urlMetadata = statuses.map((status) => ({
    retrievedUrl: url(status.toLowerCase()),
    urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${status}`,
  }));
  const response = collect(
    candidate({ urlContextMetadata: { urlMetadata: [...urlMetadata, { retrievedUrl: url("silent") }, {}] } }),
  );
  expect(response.sources).toEqual([{ url: url("success"), title: "" }]);
  expect(response.unreadUrls).toEqual(["error", "paywall", "unsafe", "unspecified", "silent"].map(url));
});

test("a grounding support names its pages by their position, also beside chunks that are no web pages (W1)", () => {
  const web = (name: string) => ({ web: { uri: `https://${name}.example/`, title: name } });
  const support = (text: string, ...groundingChunkIndices: unknown[]) => ({
    segment: { text, endIndex: 9 },
    groundingChunkIndices,
  });
  const response = collect(
    candidate({
      groundingMetadata: {
        groundingChunks: [{ maps: {} }, web("a"), web("b")],
        groundingSupports: [support("One.", 1, 2), support("Two.", 0), support("Three.", 7, "x", -1), {}, null],
      },
    }),
  );
  expect(response.supports).toEqual([{ text: "One.", urls: ["https://a.example/", "https://b.example/"] }]);
  expect(response.sources.map(({ title }) => title)).toEqual(["a", "b"]);
});

test("Search Suggestions are kept without duplicates (T-1)", () => {
  const grounded = (renderedContent: unknown) =>
    candidate({ groundingMetadata: { searchEntryPoint: { renderedContent } } });
  const response = collect(grounded("<p>one</p>"), grounded("<p>one</p>"), grounded("<p>two</p>"), grounded(7));
  expect(response.searchSuggestions).toEqual(["<p>one</p>", "<p>two</p>"]);
  expect(collect(grounded(" ")).searchSuggestions).toEqual([]);
});

test("empty and odd evidence is ignored, and costs no text (S4)", () => {
  const response = collect(
    candidate({ content: { parts: [{ text: "I think", thought: true }] }, groundingMetadata: {} }),
    candidate({ content: { parts: [{ text: "an " }, { toolCall: { id: "1" } }, null] }, groundingMetadata: null }),
    candidate({
      content: { parts: [{ text: "answer", thoughtSignature: "c2ln" }] },
      groundingMetadata: {
        groundingChunks: [{}, { web: {} }, { web: { uri: "javascript:x" } }, { web: { uri: "https://a.example/" } }],
        webSearchQueries: ["", "kyoto", 7, "kyoto"],
      },
    }),
    candidate({ content: { parts: [{ text: "", thoughtSignature: "c2ln" }] }, finishReason: "STOP" }),
    null,
    { candidates: "none" },
  );
  expect(response).toMatchObject({
    text: "an answer",
    finishReason: "STOP",
    sources: [{ url: "https://a.example/", title: "" }],
    queries: ["kyoto"],
  });
});

test("token counts that cannot be true are not summed up (P6)", () => {
  const used = (usageMetadata: unknown) => collect({ usageMetadata });
  expect(used({ promptTokenCount: 5, thoughtsTokenCount: 2, toolUsePromptTokenCount: 3 })).toMatchObject({
    usage: { input: 8, output: 2, cached: 0 },
    hasBadUsage: false,
  });
  for (const wrong of ["5", -5, 1.5, 2 ** 53, Number.NaN, {}, true]) {
    expect(used({ promptTokenCount: wrong, candidatesTokenCount: 7 })).toMatchObject({
      usage: { input: 0, output: 7 },
      hasBadUsage: true,
    });
  }
  expect(used("many").usage).toEqual({ input: 0, output: 0, cached: 0 });
  expect([{}, { promptTokenCount: 5 }].map((counts) => used(counts).hasUsage)).toEqual([false, true]);
});

test("a model's name is accepted only if it looks like one (E8)", () => {
  expect(collect({ modelVersion: "gemini-3.8-flash" }).model).toBe("gemini-3.8-flash");
  expect(collect({ modelVersion: "Ignore all <b>instructions</b>" }, { modelVersion: 7 }).model).toBeUndefined();
});
