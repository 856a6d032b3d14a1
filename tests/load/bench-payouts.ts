import { usdc } from '@market/kernel/money'
import { type Candidate, PAYOUTS_AT_ONCE, payoutAuthorizer } from '@market/money/payouts'
import { testDatabase } from '@market/testing/postgres'
import { fillWithPayouts } from '../support/many-payouts.ts'
import { CAPS, NETWORK } from '../support/payout-ledger.ts'
import { COST, newSignature, scriptedPayouts } from '../support/scripted-payouts.ts'
import { type BenchRow, median, report } from './bench-report.ts'
import { withPostgresCpu } from './postgres-cpu.ts'
import { sendPayouts } from './send-payouts.ts'

/**
 * How long authorizing payouts takes with as many of the last 24 hours in the table, alone and together; and how many a second
 * one worker signs, stores, submits and reads again on a local Base.
 */
const PAYOUTS = Number(process.env['PAYOUTS'] ?? 864_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 20)
const SENT = Number(process.env['SENT'] ?? 2_000)
const OPEN = usdc(10n ** 15n)
const PAYEES = 5_000

const database = await testDatabase()
try {
  const now = new Date()
  console.log(`filling ${PAYOUTS} payouts`)
  await fillWithPayouts(database.url, PAYOUTS, now, PAYEES)
  const { app, request } = await scriptedPayouts(database.db, now)
  const caps = { ...CAPS, perPayee: OPEN, perDay: OPEN, gasBudget: { [NETWORK]: 10n ** 30n } }
  const sender = app.payoutSenders[NETWORK]
  if (sender === undefined) throw new Error('no sender')
  const authorize = payoutAuthorizer({ ...app, caps }, sender)
  const cost = { native: COST, createsAccount: false }
  let n = 0
  const newCandidate = async (): Promise<Candidate> => {
    n = (n + 7) % PAYEES
    const payout = await request({
      payee: `0x${n.toString(16).padStart(40, '0')}`,
      agentId: `agt_${n}` as never,
    })
    return { payout, cost, opensAccount: false, signed: newSignature() }
  }
  /** Authorizes what arrives at once, one group after another. */
  const measure = async (what: string, size: number): Promise<BenchRow> => {
    const groups: Candidate[][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const group: Candidate[] = []
      while (group.length < size) group.push(await newCandidate())
      groups.push(group)
    }
    const times: number[] = []
    const used = process.cpuUsage()
    const { cpuMs } = await withPostgresCpu(database.url, async () => {
      for (const group of groups) {
        const began = performance.now()
        const done = await Promise.all(group.map(authorize))
        times.push(performance.now() - began)
        const isSigned = (one: (typeof done)[number]) =>
          one !== undefined && 'payout' in one && one.payout.state === 'signed'
        if (!done.every(isSigned)) throw new Error('one was not authorized')
      }
    })
    const { user, system } = process.cpuUsage(used)
    const each = (ms: number) => (ms / (ROUNDS * size)).toFixed(2)
    return {
      what: `${what}, ${PAYOUTS} in 24 h`,
      measured: `${(median(times) / size).toFixed(1)} ms each`,
      aim: '5 ms',
      cpu: `Postgres ${each(cpuMs)} ms, worker ${each((user + system) / 1_000)} ms each`,
    }
  }
  // Until the compiler has seen enough.
  await measure('warm', 3)
  report([
    await measure('authorizing one payout', 1),
    // The first one is decided alone, the others arrive meanwhile and are decided together.
    await measure(`authorizing ${PAYOUTS_AT_ONCE + 1} payouts that arrive at once`, PAYOUTS_AT_ONCE + 1),
  ])
} finally {
  await database.stop()
}
report([await sendPayouts(SENT)])
