/** A cursor with any values, encoded as the lists encode theirs. */
export const forgeCursor = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url')
