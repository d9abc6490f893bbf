/** Answers with defects that models produce, short enough to mutate. */

const METADATA = '"metadata":{"sources_visited":["https://a.example/x"],"search_queries_used":["lakes"]}';

export const malformedAnswers: readonly string[] = [
  `{"success":true,"verified":true,"report":"# Lakes\\n\\nThey are *deep* \\u00e9.",${METADATA}}`,
  `Here it is:\n\`\`\`json\n{"success":true,"report":"It says \\"so\\" [cite: 1]",${METADATA}}\n\`\`\`\nBye.`,
  `{"success":true,"report":"stray "quotes" in it","verified":false,${METADATA}}`,
  `{"success":true,"verified":true,"report":"cut off in the mid`,
  `{"success":true,"report":"closed","verified":true // why not\n ,${METADATA}`,
  `{'success': True, 'report': 'single quotes', 'verified': False, 'metadata': {'sources_visited': ['a', 'b']}}`,
  "{“success”: true, “report”: “curly”, “metadata”: {“sources_visited”: [“a”, ‘b’]}}",
  '{"response":"{\\"success\\":true,\\"report\\":\\"inside a string\\",\\"verified\\":true}"}',
  '[{"success":false,"error":"nothing"},{"success":true,"result":"the second"}]',
  "{&quot;success&quot;: true, &quot;report&quot;: &quot;entities&quot;}",
  '{\\"success\\": true, \\"report\\": \\"one layer too many\\"}',
  "success: true,\nreport: without quotes,\nverified: true",
  '{"success":"true","verified":"TRUE","report":"text for truth"}',
  '{"success":true,"report":"""three quotes""", /* and a comment */ "verified":true}',
  '{"success":true,"report":"a" + "b" +\n"c","verified":true,}',
  '{"success":true,"verified":true,"report":"They are deep \\u" + "00e9."}',
  '{"success":true,"report":"<your whole report in Markdown>"}',
  '{"__proto__":{"success":true},"success":true,"report":"x y z","metadata":{"__proto__":{"polluted":1}}}',
  `{"success":true,"report":"a" ${"/".repeat(60)}\nb","verified":true, x}`,
  `{"success":true,"report":"a" ${"#".repeat(60)}\nb","verified":true, x}`,
  `{"success":true,"report":"a" ${"/**/".repeat(30)}b","verified":true, x}`,
  '"success"  :  true, "report" "no colon"',
];
