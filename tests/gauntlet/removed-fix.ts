/** A fix, the text that takes it out of a source file, and the test that must fail without it. */
export interface RemovedFix {
  /** The number that its review gave the finding, and what the fix guarantees. */
  readonly finding: string
  readonly file: string
  readonly from: string
  readonly to: string
  readonly test: string
  /** A part of the test's title. */
  readonly title: string
}
