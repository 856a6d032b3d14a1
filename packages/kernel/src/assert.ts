/** Checks an internal invariant. A failed assertion is a bug in this application, never an error of the caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
