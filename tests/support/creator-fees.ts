import { randomBytes } from 'node:crypto'
import { MEMO_PROGRAM } from '@market/chains/solana/sign-payout'
import {
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  getBase58Decoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
} from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import type { SolanaWorld } from '../chains/solana-support.ts'
import type { Reply } from './client.ts'
import { makeOwnedAgent } from './makers.ts'
import { type Market, startMarket } from './market.ts'
import { operatorToken } from './operator.ts'
import { ADMIN_USER, CREATOR_FEE_SEED, CREATOR_FEE_WALLET } from './settings.ts'

export const FEES = '/api/admin/creator-fees'

const SOL = 1_000_000_000n
const base58 = getBase58Decoder()

export const someSignature = (): string => base58.decode(randomBytes(64))
const someKey = (): string => base58.decode(randomBytes(32))

export const solOf = (amount: bigint): number => Number(amount) / Number(SOL)

type TokenMode = 'token2022' | 'pumpfun'

/** An agent with a token and an owner wallet on Base, so that it is paid to its server wallet on Solana. */
export async function makeTokenAgent(market: Market, mode: TokenMode = 'token2022') {
  const agent = await makeOwnedAgent(market)
  const mint = someKey()
  await market.db
    .insertInto('agent_tokens')
    .values({
      agent_id: agent.id,
      mint,
      name: 'Painter by Market',
      symbol: 'PAINT',
      mode,
      creator_wallet: someKey(),
      description: 'The token of an agent that paints pictures.',
      tx_hash: someSignature(),
      created_at: new Date(market.now()),
    })
    .execute()
  const { address: wallet } = await market.db
    .selectFrom('agent_wallets')
    .select('address')
    .where('agent_id', '=', agent.id)
    .executeTakeFirstOrThrow()
  return { ...agent, mint, wallet }
}

export type TokenAgent = Awaited<ReturnType<typeof makeTokenAgent>>

/** A fee in the database, whose transactions no chain knows. */
export async function makeFee(
  market: Market,
  agent: TokenAgent,
  amount = 10_000_000n,
  sourceTx = someSignature(),
) {
  const [partner, buyback] = [(amount * 2_333n) / 10_000n, (amount * 1_167n) / 10_000n]
  const row = {
    id: `cfe_${market.now()}_0${randomBytes(8).toString('hex')}`,
    agent_id: agent.id,
    mint: agent.mint,
    mode: 'token2022',
    amount_lamports: amount,
    agent_lamports: amount - partner - buyback,
    partner_lamports: partner,
    buyback_lamports: buyback,
    source_tx: sourceTx,
    status: 'accrued',
    recorded_by: `user:${ADMIN_USER}`,
    created_at: new Date(market.now()),
  }
  await market.db.insertInto('creator_fees').values(row).execute()
  return { id: row.id, agentId: agent.id, sourceTx: row.source_tx, sol: solOf(amount) }
}

/** Settled as well, of an agent of its own. */
export async function makeSettledFee(market: Market) {
  const fee = await makeFee(market, await makeTokenAgent(market))
  const settleTx = someSignature()
  await market.db
    .updateTable('creator_fees')
    .set({ status: 'settled', payment_tx: settleTx, paid_by: `user:${ADMIN_USER}`, paid_at: new Date() })
    .where('id', '=', fee.id)
    .execute()
  return { ...fee, settleTx }
}

/** A marketplace on a real Solana node, and a wallet that pays on it. */
export async function startFeeMarket() {
  const market = await startMarket({}, { chains: ['solana-mainnet'] })
  const solana = market.chains['solana-mainnet'].chain
  const payer = await solana.wallet()
  const platform = await createKeyPairSignerFromPrivateKeyBytes(CREATOR_FEE_SEED)
  await Promise.all([payer, platform].map(({ address }) => solana.chain.fundSol(address, 10_000n * SOL)))
  const bearer = await operatorToken(market)
  return {
    market: market as Market,
    solana,
    payer,
    bearer,
    /** The platform pays each amount with a transaction of its own. Waits until all are final. */
    pay: (to: string, ...amounts: readonly bigint[]) => payEach(solana, { from: platform, to, amounts }),
    /** Somebody else pays. */
    payBy: (to: string, ...amounts: readonly bigint[]) => payEach(solana, { from: payer, to, amounts }),
    /** Fees of a token reach the platform, in transactions that name its mint. */
    payFees: (mint: string, ...amounts: readonly bigint[]) =>
      payEach(solana, { from: payer, to: CREATOR_FEE_WALLET, amounts, mint }),
    record: (body: object, as = bearer): Promise<Reply> => market.client().post(FEES, body, { bearer: as }),
    settle: (id: string, settleTx: string, as = bearer): Promise<Reply> =>
      market.client().post(`${FEES}/${id}/settle`, { settle_tx: settleTx }, { bearer: as }),
  }
}

export type FeeMarket = Awaited<ReturnType<typeof startFeeMarket>>

/** Transactions with the same content and blockhash would be the same transaction. */
const different = (payer: KeyPairSigner, count: number): Instruction =>
  getTransferSolInstruction({ source: payer, destination: payer.address, amount: lamports(BigInt(count)) })

let transactions = 0

interface Payments {
  readonly from: KeyPairSigner
  readonly to: string
  readonly amounts: readonly bigint[]
  readonly mint?: string
}

async function payEach(
  { send, settled }: Pick<SolanaWorld, 'send' | 'settled'>,
  { from, to, amounts, mint }: Payments,
): Promise<string[]> {
  const signatures = await Promise.all(
    amounts.map((amount) => {
      transactions += 1
      const transfer = getTransferSolInstruction({
        source: from,
        destination: address(to),
        amount: lamports(amount),
      })
      const memo =
        mint === undefined ? [] : [getAddMemoInstruction({ memo: mint }, { programAddress: MEMO_PROGRAM })]
      return send(from, [transfer, different(from, transactions), ...memo])
    }),
  )
  for (const signature of signatures) await settled(signature, 'finalized')
  return signatures
}
