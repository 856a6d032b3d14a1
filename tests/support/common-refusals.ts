import type { Subject } from './good-call.ts'
import { refusesBadBodies } from './refuses-bad-bodies.ts'
import { refusesStrangers, refusesUnreadableCredentials } from './refuses-strangers.ts'
import { type Repeatable, refusesTwice } from './refuses-twice.ts'
import { refusesWhileReadOnly } from './refuses-while-away.ts'

/** What every read refuses alike. */
export function commonRefusals(subject: Subject): void {
  if (subject.operation.callers.includes('anonymous')) refusesUnreadableCredentials(subject)
  else refusesStrangers(subject)
}

/** What every write refuses alike. */
export function commonWriteRefusals(subject: Repeatable): void {
  commonRefusals(subject)
  refusesBadBodies(subject)
  refusesTwice(subject)
  if (subject.operation.worksReadOnly !== true) refusesWhileReadOnly(subject)
}
