import { randomBytes } from 'node:crypto'
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbi,
  parseSignature,
  toHex,
} from 'viem'
import { USDC_BYTECODE } from './contracts/usdc.ts'

export const BASE_USDC: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

export const USDC_ABI = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function mint(address to, uint256 value)',
  'function deny(address account, bool denied)',
  'function pause()',
  'function unpause()',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>

export const mintCall = (to: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: USDC_ABI, functionName: 'mint', args: [to, amount] })

/** Storage slots of the token's name and symbol in OpenZeppelin's ERC20. */
const NAME_SLOT = 3
const SYMBOL_SLOT = 4

/** A text shorter than 32 bytes as Solidity stores it: the text on the left, twice its length on the right. */
const shortText = (text: string): Hex =>
  concat([pad(toHex(text), { dir: 'right', size: 31 }), toHex(text.length * 2, { size: 1 })])

/**
 * Deploys the token at its address. The constructor is simulated for the code that it returns, so that the code contains
 * the name for the EIP-712 domain.
 */
export const installUsdc = async (rpc: Rpc, at: Address): Promise<void> => {
  const creation = concat([USDC_BYTECODE, encodeAbiParameters([{ type: 'string' }], ['USD Coin'])])
  const code = await rpc('eth_call', [{ data: creation }, 'latest'])
  await rpc('anvil_setCode', [at, code])
  await rpc('anvil_setStorageAt', [at, toHex(NAME_SLOT, { size: 32 }), shortText('USD Coin')])
  await rpc('anvil_setStorageAt', [at, toHex(SYMBOL_SLOT, { size: 32 }), shortText('USDC')])
}

export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

/** The EIP-3009 authorization that a payer signs. */
export const authorizationTypedData = (chainId: number, usdc: Address, message: Authorization) => ({
  domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const,
  primaryType: 'TransferWithAuthorization' as const,
  message,
})

export const authorizationOf = (from: Address, to: Address, value: bigint, validBefore: bigint) => ({
  from,
  to,
  value,
  validAfter: 0n,
  validBefore,
  nonce: toHex(randomBytes(32)),
})

/** The call that executes the authorization. */
export const authorizationCall = (authorization: Authorization, signature: Hex): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  return encodeFunctionData({
    abi: USDC_ABI,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s],
  })
}
