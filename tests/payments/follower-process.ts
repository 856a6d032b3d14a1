import { evmChain } from '@market/chains/evm/evm-chain'
import { connect } from '@market/database/connect'
import { decideFinality, readNewBlocks } from '@market/money/follower'
import type { EvmNetwork } from '@market/testing/evm-network'
import { marketContext } from '@market/testing/market-context'
import pg from 'pg'
import { settingsFor } from '../chains/evm-world.ts'
import { type FollowerSettings, STEPS } from './follower-steps.ts'

/** Reads the network once, as a worker does, and signals itself at one step. */

const NETWORK = 'base-mainnet'
const settings = JSON.parse(process.env['FOLLOWER'] ?? '') as FollowerSettings
const at = settings.at && { ...settings.at, what: STEPS[settings.at.step] }
let isDone = false

const reached = (what: string): void => {
  if (at === undefined || isDone) return
  if (typeof at.what === 'string' ? at.what !== what : !at.what.test(what.trim())) return
  isDone = true
  process.kill(process.pid, at.signal)
}

type Query = (...args: unknown[]) => unknown
const query = pg.Client.prototype.query as Query
pg.Client.prototype.query = async function (this: unknown, ...args: unknown[]) {
  const result = await query.apply(this, args)
  const [first] = args
  reached(typeof first === 'string' ? first : String((first as { text?: string }).text))
  return result
} as never

const { treasury, databaseUrl } = settings
const chain = evmChain(settingsFor(settings.chain as unknown as EvmNetwork, treasury))
const db = connect({ url: databaseUrl, timeoutFactor: 20 })
const stepped = {
  ...chain,
  movementsAfter: async (...args: Parameters<NonNullable<typeof chain.movementsAfter>>) => {
    const read = await chain.movementsAfter?.(...args)
    reached('movementsAfter')
    return read
  },
  finalMovementsAfter: async (...args: Parameters<typeof chain.finalMovementsAfter>) => {
    const read = await chain.finalMovementsAfter(...args)
    reached('finalMovementsAfter')
    return read
  },
}
const ctx = { ...marketContext({ db }), chains: { [NETWORK]: stepped } }
await readNewBlocks(ctx, NETWORK)
await decideFinality(ctx, NETWORK)
await db.destroy()
