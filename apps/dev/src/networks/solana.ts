import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { startSurfpool } from '@market/testing/surfpool'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isAddress,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { unknownWallet } from './evm.ts'
import type { LocalNetwork } from './network.ts'

/** A block is final after 31 more slots, and a transaction expires after 150. */
const SLOT_MS = 100
const SOL = 1_000_000_000n
const DECIMALS = 6
const POLL_MS = 20

/** Starts a local Solana chain with USDC. */
export async function startSolana(): Promise<LocalNetwork> {
  const chain = await startSurfpool({ slotTimeMs: SLOT_MS })
  const rpc = createSolanaRpc(chain.url)
  const usdc = await installSolanaUsdc(chain, await generateKeyPairSigner())
  const mint = address(usdc.mint)
  const seed = randomBytes(32)
  const treasury = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(seed))
  const gasSeed = randomBytes(32)
  const gas = await createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from(gasSeed))
  await chain.fundSol(treasury.address, 1_000n * SOL)
  await chain.fundSol(gas.address, 1_000n * SOL)
  // Creates the treasury's token account, so that every wallet can pay into it.
  await usdc.fund(treasury.address, 0n)
  const wallets = new Map<string, KeyPairSigner>()
  let aheadMs = 0

  const newSigner = async (): Promise<KeyPairSigner> => {
    const signer = await generateKeyPairSigner()
    wallets.set(signer.address, signer)
    return signer
  }
  const fund: LocalNetwork['fund'] = async (to, more) => {
    const owner = addressOf(to)
    const { value: balance } = await rpc.getBalance(owner).send()
    if (more.native > 0n) await chain.fundSol(owner, balance + more.native)
    if (more.usdc > 0n) await usdc.fund(owner, (await usdc.balanceOf(owner)) + more.usdc)
  }
  const accountOf = async (owner: Address): Promise<Address> => address(await usdc.accountOf(owner))

  const run = async (payer: KeyPairSigner, instructions: readonly Instruction[]): Promise<string> => {
    const { value: blockhash } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const transaction = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
      ),
    )
    await rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: 'base64' }).send()
    const signature = getSignatureFromTransaction(transaction)
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([signature]).send()
      const status = value[0]?.confirmationStatus
      if (status === 'confirmed' || status === 'finalized') return signature
      await wait(POLL_MS)
    }
  }

  return {
    addresses: { rpc: chain.url, usdc: usdc.mint, treasury: treasury.address },
    treasuryKey: seed.toString('hex'),
    gas: { account: gas.address, key: gasSeed.toString('hex') },
    identity: chain.genesisHash,
    newWallet: async () => (await newSigner()).address,
    fund,
    transfer: async (to, amount, from) => {
      const payee = addressOf(to)
      const payer = from === undefined ? await newSigner() : wallets.get(from)
      if (payer === undefined) throw unknownWallet(from)
      await fund(payer.address, { native: SOL, usdc: amount })
      const [source, destination] = await Promise.all([accountOf(payer.address), accountOf(payee)])
      const tx = await run(payer, [
        getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner: payee, mint }),
        getTransferCheckedInstruction({
          source,
          mint,
          destination,
          authority: payer,
          amount,
          decimals: DECIMALS,
        }),
      ])
      return { tx, payer: payer.address }
    },
    advance: async (seconds) => {
      aheadMs += seconds * 1_000
      if (seconds > 0) await chain.call('surfnet_timeTravel', { absoluteTimestamp: Date.now() + aheadMs })
    },
    stop: () => chain.stop(),
  }
}

function addressOf(text: string): Address {
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && isAddress(text)) return text
  throw new ApiError('invalid', `${text} is not a Solana address`)
}
