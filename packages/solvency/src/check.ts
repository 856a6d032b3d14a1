/** A check of the proof of reserves, and the options that would prove what it could not. */
export interface ReserveCheck {
  readonly result: 'ok' | 'warning' | 'FAILED' | 'skipped'
  readonly check: string
  readonly detail: string
  readonly missing?: readonly string[] | undefined
}

export const outcome = (check: string, problem: string | undefined, detail = ''): ReserveCheck => ({
  result: problem === undefined ? 'ok' : 'FAILED',
  check,
  detail: problem ?? detail,
})
