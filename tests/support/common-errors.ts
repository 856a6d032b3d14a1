import { rejectsBadBodies } from './rejects-bad-bodies.ts'
import {
  ignoresOtherCredentials,
  rejectsOtherCallers,
  rejectsUnreadableAuthorization,
} from './rejects-other-callers.ts'
import { type Repeatable, rejectsTwice } from './rejects-twice.ts'
import { rejectsWhileReadOnly } from './rejects-while-unavailable.ts'
import { type Subject, withOneRequest } from './valid-request.ts'

/** The error tests that every read has. A request that is always rejected may be the same in all of them. */
export function commonErrors(subject: Subject, rejecting = withOneRequest(subject)): void {
  if (subject.operation.callers.includes('anonymous')) {
    rejectsUnreadableAuthorization(rejecting)
    ignoresOtherCredentials(subject)
  } else rejectsOtherCallers(rejecting)
}

/** The error tests that every write has. */
export function commonWriteErrors(subject: Repeatable): void {
  const rejecting = withOneRequest(subject)
  commonErrors(subject, rejecting)
  // A form with a file has its own tests.
  if (subject.operation.file === undefined) rejectsBadBodies(rejecting)
  rejectsTwice(subject)
  if (subject.operation.worksReadOnly !== true) rejectsWhileReadOnly(subject)
}
