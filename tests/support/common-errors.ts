import type { Subject } from './good-call.ts'
import { rejectsBadBodies } from './rejects-bad-bodies.ts'
import { rejectsStrangers, rejectsUnreadableCredentials } from './rejects-other-callers.ts'
import { type Repeatable, rejectsTwice } from './rejects-twice.ts'
import { rejectsWhileReadOnly } from './rejects-while-away.ts'

/** What every read rejects alike. */
export function commonRefusals(subject: Subject): void {
  if (subject.operation.callers.includes('anonymous')) rejectsUnreadableCredentials(subject)
  else rejectsStrangers(subject)
}

/** What every write rejects alike. */
export function commonWriteRefusals(subject: Repeatable): void {
  commonRefusals(subject)
  rejectsBadBodies(subject)
  rejectsTwice(subject)
  if (subject.operation.worksReadOnly !== true) rejectsWhileReadOnly(subject)
}
