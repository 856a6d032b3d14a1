import type { ByteBudget } from '@market/handlers/byte-budget'

/** A list of a tool ends here, because a model has to read it. */
const RESULT_BYTES = 64 * 1024
/** For the marks around the text of others, the cursor and the message of JSON-RPC. */
const OTHER_BYTES = 2 * 1024

/** An item is in the text of a result, as JSON in a JSON string, and in `structuredContent`. */
export const RESULT_BUDGET: ByteBudget = {
  bytes: RESULT_BYTES - OTHER_BYTES,
  bytesOf: (json, { length }) =>
    // In the text, quotes and backslashes are escaped, and `<` becomes an escape whose backslash is escaped too.
    2 * length + countOf('"', json) + countOf('\\', json) + 6 * countOf('<', json),
  // fix: parts-of-lists
  partRows: 20,
}

function countOf(character: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
  return count
}
