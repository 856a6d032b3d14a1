import { commonSettings, readEnvironment, wholeNumber } from '@market/platform/settings/environment'
import { z } from 'zod'
import { checkPayoutSenderSettings, railSettings } from './payout-sender-settings.ts'

const Env = z
  .object({
    ...commonSettings,
    ...railSettings,
    DATABASE_POOL: wholeNumber(2, 100).default(20),
    /** How many jobs run at once: most of a webhook's time is waiting for somebody else. */
    JOB_CONCURRENCY: wholeNumber(1, 1_000).default(100),
    HOST: z.string().default('127.0.0.1'),
    /** Health and figures; nothing else is served. */
    PORT: wholeNumber(0, 65_535).default(3001),
  })
  .superRefine(checkPayoutSenderSettings)

export type Config = Readonly<z.infer<typeof Env>>

/** The only reader of the environment. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => readEnvironment(Env, env)
