import type { WalletToken } from '@market/core/ports/agent-wallets'
import {
  type Address,
  address,
  type Base64EncodedBytes,
  getBase64Encoder,
  type ReadonlyUint8Array,
} from '@solana/kit'
import {
  AccountState,
  findAssociatedTokenPda,
  getMintDecoder,
  getMintSize,
  getTokenDecoder,
  getTokenSize,
  TOKEN_PROGRAM_ADDRESS,
  type Token,
} from '@solana-program/token'
import type { SolanaRpc } from '../nodes.ts'
import { TOKEN_2022_PROGRAM_ADDRESS } from './token-2022.ts'

/** A mint of either token program. */
export interface TokenMint extends WalletToken {
  readonly program: Address
  /** The size of an associated token account, whose rent the wallet pays when it must create one. */
  readonly accountBytes: number
  /** Why a wallet cannot send its tokens. */
  readonly rejected: string | undefined
}

interface AccountInfo {
  readonly owner: Address
  readonly data: readonly [Base64EncodedBytes, 'base64']
}

export const TOKEN_PROGRAMS = [TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS] as const

const base64 = getBase64Encoder()

/** Mints with extensions are padded to the size of a token account. Then follow the account's type and the extensions. */
const TYPE_OFFSET = getTokenSize()
const TYPE = { mint: 1, account: 2 } as const
const HEADER_BYTES = 4

/** Extensions of mints, by the numbers of Token-2022. */
const EXTENSION = { transferFee: 1, nonTransferable: 9, transferHook: 14, pausable: 26 } as const

/** What an extension of the mint adds to each token account. */
const ADDED_BYTES: Readonly<Record<number, number>> = {
  [EXTENSION.transferFee]: HEADER_BYTES + 8,
  [EXTENSION.nonTransferable]: HEADER_BYTES,
  [EXTENSION.transferHook]: HEADER_BYTES + 1,
  [EXTENSION.pausable]: HEADER_BYTES,
}

const ADDRESS_BYTES = 32

/** The data of each extension of a mint, by its number. Undefined when it is not a mint. */
const extensionsOf = (data: Buffer): Map<number, Buffer> | undefined => {
  const found = new Map<number, Buffer>()
  if (data.length === getMintSize()) return found
  if (data[TYPE_OFFSET] !== TYPE.mint) return undefined
  for (let at = TYPE_OFFSET + 1; at + HEADER_BYTES <= data.length; ) {
    const [type, length] = [data.readUInt16LE(at), data.readUInt16LE(at + 2)]
    if (type === 0) break
    found.set(type, data.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length))
    at += HEADER_BYTES + length
  }
  return found
}

/** Why tokens with these extensions do not leave a wallet. */
const rejectExtensions = (extensions: ReadonlyMap<number, Buffer>): string | undefined => {
  if (extensions.has(EXTENSION.nonTransferable)) return 'its tokens cannot be transferred'
  const hook = extensions.get(EXTENSION.transferHook)?.subarray(ADDRESS_BYTES, 2 * ADDRESS_BYTES)
  if (hook?.some((byte) => byte !== 0))
    return 'its transfers call another program, which this wallet does not do'
  if (extensions.get(EXTENSION.pausable)?.[ADDRESS_BYTES] === 1) return 'its issuer has paused all transfers'
  return undefined
}

export const decodeMint = (mint: string, value: AccountInfo | null): TokenMint | undefined => {
  const program = TOKEN_PROGRAMS.find((one) => one === value?.owner)
  if (value === null || program === undefined) return undefined
  const data = Buffer.from(base64.encode(value.data[0]))
  if (data.length < getMintSize()) return undefined
  if (program === TOKEN_PROGRAM_ADDRESS && data.length !== getMintSize()) return undefined
  const extensions = extensionsOf(data)
  const { decimals, isInitialized } = getMintDecoder().decode(data.subarray(0, getMintSize()))
  if (extensions === undefined || !isInitialized) return undefined
  const added = [...extensions.keys()].reduce((sum, type) => sum + (ADDED_BYTES[type] ?? 0), 0)
  return {
    mint,
    decimals,
    program,
    // Token-2022 also stores the type, and that the owner is immutable.
    accountBytes: getTokenSize() + (program === TOKEN_PROGRAM_ADDRESS ? 0 : 1 + HEADER_BYTES + added),
    rejected: rejectExtensions(extensions),
  }
}

/** Undefined when the address is not that of a mint. */
export const readMint = async (rpc: SolanaRpc, mint: string): Promise<TokenMint | undefined> => {
  const { value } = await rpc
    .getAccountInfo(address(mint), { commitment: 'confirmed', encoding: 'base64' })
    .send()
  return decodeMint(mint, value)
}

/** A token account of either program. */
export const decodeAccount = (value: AccountInfo | null): Token | undefined => {
  const isOfProgram = TOKEN_PROGRAMS.some((one) => one === value?.owner)
  if (value === null || !isOfProgram) return undefined
  const data: ReadonlyUint8Array = base64.encode(value.data[0])
  const isAccount =
    data.length === getTokenSize() || (data.length > getTokenSize() && data[TYPE_OFFSET] === TYPE.account)
  return isAccount ? getTokenDecoder().decode(data.slice(0, getTokenSize())) : undefined
}

export const isSpendable = ({ state }: Token): boolean => state === AccountState.Initialized

/** The wallet's associated token account, the only one that it sends from. */
export const accountOf = async (
  owner: string,
  { mint, program }: Pick<TokenMint, 'mint' | 'program'>,
): Promise<Address> => {
  const [account] = await findAssociatedTokenPda({
    ...{ mint: address(mint), owner: address(owner), tokenProgram: program },
  })
  return account
}

/** Undefined when the wallet has no associated token account. */
export const readAccount = async (
  rpc: SolanaRpc,
  owner: string,
  mint: Pick<TokenMint, 'mint' | 'program'>,
): Promise<Token | undefined> => {
  const { value } = await rpc
    .getAccountInfo(await accountOf(owner, mint), { commitment: 'confirmed', encoding: 'base64' })
    .send()
  return decodeAccount(value)
}
