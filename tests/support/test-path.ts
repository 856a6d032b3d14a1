import { expect } from 'vitest'

/** The file of the running test; empty in a program that is not a test, such as a bench. */
export const testPath = (): string =>
  process.env['VITEST'] === undefined ? '' : (expect.getState().testPath ?? '')
