/** A fix that the sources mark with `// fix: <marker>`, and the test that must fail without it. */
export interface RemovedFix {
  /** The number that its review gave the finding, and what the fix guarantees. */
  readonly finding: string
  readonly marker: string
  /**
   * Replaces the value of what is marked: the condition of an if, what is returned, thrown or assigned, the body of a
   * function, or the element itself. Without it, the marked statement, property or element is deleted.
   */
  readonly to?: string
  readonly test: string
  /** A part of the test's title. */
  readonly title: string
}
