import type { Needs } from '@market/core/context'
import { sql } from 'kysely'

const SHOWN = 200
/** A sample bounds the work: the newest agents say what is used now. */
const SAMPLE = 5_000

/** Which models agents say they use, most used first, counted over the newest marketable agents. */
export async function listModels(ctx: Needs<'db'>): Promise<{ model: string; agents: number }[]> {
  const { rows } = await sql<{ model: string; agents: bigint }>`
    select model, count(*) as agents
    from (
      select ai_models from agents where marketable order by created_at desc, id desc limit ${SAMPLE}
    ) as newest, unnest(ai_models) as model
    group by model order by count(*) desc, model limit ${SHOWN}`.execute(ctx.db)
  return rows.map(({ model, agents }) => ({ model, agents: Number(agents) }))
}
