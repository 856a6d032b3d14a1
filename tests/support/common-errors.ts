import { rejectsBadBodies } from './rejects-bad-bodies.ts'
import { rejectsOtherCallers, rejectsUnreadableCredentials } from './rejects-other-callers.ts'
import { type Repeatable, rejectsTwice } from './rejects-twice.ts'
import { rejectsWhileReadOnly } from './rejects-while-unavailable.ts'
import type { Subject } from './valid-request.ts'

/** The error tests that every read has. */
export function commonErrors(subject: Subject): void {
  if (subject.operation.callers.includes('anonymous')) rejectsUnreadableCredentials(subject)
  else rejectsOtherCallers(subject)
}

/** The error tests that every write has. */
export function commonWriteErrors(subject: Repeatable): void {
  commonErrors(subject)
  // A form with a file has its own tests.
  if (subject.operation.file === undefined) rejectsBadBodies(subject)
  rejectsTwice(subject)
  if (subject.operation.worksReadOnly !== true) rejectsWhileReadOnly(subject)
}
