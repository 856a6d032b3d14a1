/** Wrong arguments or settings, as a sentence that says what to write. The program ends with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command to try next. */
  readonly next: string | undefined

  constructor(message: string, next?: string) {
    super(message)
    this.next = next
  }
}

/** What failed in this program rather than in the API, with the command to try next. The program ends with 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string
  readonly next: string | undefined

  constructor(code: string, message: string, next?: string) {
    super(message)
    this.code = code
    this.next = next
  }
}
