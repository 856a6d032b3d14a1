import { address, commonSettings, readEnvironment, wholeNumber } from '@market/platform/settings/environment'
import { storageSettings } from '@market/platform/settings/storage'
import { walletSealPrivateKeys } from '@market/platform/settings/vault'
import { z } from 'zod'
import { checkPayoutSenderSettings, payoutSenderSettings } from './payout-sender-settings.ts'

const Env = z
  .object({
    ...commonSettings,
    ...payoutSenderSettings,
    ...storageSettings,
    WALLET_SEAL_PRIVATE_KEYS: walletSealPrivateKeys,
    /** The public URL of the API, which the owners of wallets sign. */
    BASE_URL: address,
    DATABASE_POOL: wholeNumber(2, 100).default(20),
    /** Jobs that run concurrently. High, because a webhook job mostly waits for the endpoint. */
    JOB_CONCURRENCY: wholeNumber(1, 1_000).default(100),
    HOST: z.string().default('127.0.0.1'),
    /** Serves health and metrics only. */
    PORT: wholeNumber(0, 65_535).default(3001),
  })
  .superRefine(checkPayoutSenderSettings)

export type Config = Readonly<z.infer<typeof Env>>

/** Reads the environment of the program. Commands read their own. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => readEnvironment(Env, env)
