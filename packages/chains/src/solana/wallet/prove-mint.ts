import type { MintProof, WalletReader } from '@market/core/ports/agent-wallets'
import { unavailable } from '@market/kernel/api-error'
import {
  ALLOCATE_DISCRIMINATOR,
  ALLOCATE_WITH_SEED_DISCRIMINATOR,
  CREATE_ACCOUNT_ALLOW_PREFUND_DISCRIMINATOR,
  CREATE_ACCOUNT_DISCRIMINATOR,
  CREATE_ACCOUNT_WITH_SEED_DISCRIMINATOR,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import {
  INITIALIZE_MINT_DISCRIMINATOR,
  INITIALIZE_MINT2_DISCRIMINATOR,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { askEnough, type SolanaNodes, type SolanaRpc } from '../nodes.ts'
import { type ExecutedInstruction, fetchFinal, instructionsOf } from './final-transaction.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-2022.ts'

type Claim = Parameters<WalletReader['proveMint']>[0]

/** Which account the instructions of the System program create, by their number. */
const CREATED_ACCOUNT = new Map([
  [CREATE_ACCOUNT_DISCRIMINATOR, 1],
  [CREATE_ACCOUNT_WITH_SEED_DISCRIMINATOR, 1],
  [CREATE_ACCOUNT_ALLOW_PREFUND_DISCRIMINATOR, 1],
  [ALLOCATE_DISCRIMINATOR, 0],
  [ALLOCATE_WITH_SEED_DISCRIMINATOR, 0],
])

const creates = ({ program, accounts, data }: ExecutedInstruction, mint: string): boolean => {
  if (program !== SYSTEM_PROGRAM_ADDRESS || data.length < 4) return false
  const index = CREATED_ACCOUNT.get(data.readUInt32LE())
  return index !== undefined && accounts[index] === mint
}

const TOKEN_PROGRAMS: readonly unknown[] = [TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS]
const INITIALIZES_MINT: readonly unknown[] = [INITIALIZE_MINT_DISCRIMINATOR, INITIALIZE_MINT2_DISCRIMINATOR]

const initializes = ({ program, accounts, data }: ExecutedInstruction, mint: string): boolean =>
  TOKEN_PROGRAMS.includes(program) && INITIALIZES_MINT.includes(data[0]) && accounts[0] === mint

/** The proof according to one node. */
const proveVia = async (rpc: SolanaRpc, { reference, mint, creator }: Claim): Promise<MintProof> => {
  const found = await fetchFinal(rpc, reference)
  if (typeof found === 'string') return found
  const { accountKeys, header } = found.transaction.message
  const signers: readonly string[] = accountKeys.slice(0, header.numRequiredSignatures)
  if (!signers.includes(creator)) return 'other_creator'
  const instructions = instructionsOf(found.transaction, found.meta)
  const isCreated = instructions.some((one) => creates(one, mint))
  const isInitialized = instructions.some((one) => initializes(one, mint))
  return isCreated && isInitialized ? 'proven' : 'other_mint'
}

/** Of providers that disagree, one that has more of the transaction is further than the others. */
const FURTHEST_FIRST = ['failed', 'other_creator', 'other_mint', 'not_final', 'not_found'] as const

/** A mint is proven when as many providers as required say so. */
export const proveMint = async (
  nodes: SolanaNodes,
  claim: Claim,
  minProviders: number,
): Promise<MintProof> => {
  const { responses, failures } = await askEnough(nodes, minProviders, (rpc) => proveVia(rpc, claim))
  if (responses.length < minProviders)
    throw unavailable('Solana cannot be reached. Try again later.', new AggregateError(failures))
  const proofs = responses.map(({ response }) => response)
  const proven = proofs.filter((proof) => proof === 'proven').length
  if (proven > 0) return proven >= minProviders ? 'proven' : 'not_final'
  return FURTHEST_FIRST.find((proof) => proofs.includes(proof)) ?? 'not_found'
}
