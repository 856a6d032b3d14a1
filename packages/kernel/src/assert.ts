/** For what must hold if our own code is right. A failed assert is a fault of ours, never of the caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
