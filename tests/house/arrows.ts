import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { READING, RULES } from '../../house.plan.ts'

/** Reads every import under `folders` of the house at `baseDir`, and holds it against the plan. */
export async function readArrows(baseDir: string, folders: string[]): Promise<ICruiseResult> {
  const ruleSet = { forbidden: RULES }
  const { output } = await cruise(folders, { ...READING, baseDir, validate: true, ruleSet })
  if (typeof output === 'string') throw new Error(output)
  return output
}

/** Where running begins: programs, commands, benches, tests, and what vitest or a test starts by its path. */
const BEGINNINGS =
  /^apps\/[^/]+\/src\/main\.ts$|\/src\/commands\/|^tests\/load\/bench-|^tests\/faults\/money\/(?:seed-bug|sink-process)\.ts$|^tests\/x402\/first-version-client\.ts$|^tests\/gauntlet\/main\.ts$|\.test\.ts$|\/template-database\.ts$|^tests\/support\/bundle\.ts$|^scripts\/(?:build|start|map-trace)\.ts$/

/** Files that no program, command or test reaches. Knip cannot tell: our packages open every file by name. */
export function unreached({ modules }: ICruiseResult): string[] {
  const arrows = new Map(modules.map(({ source, dependencies }) => [source, dependencies]))
  const reached = new Set([...arrows.keys()].filter((file) => BEGINNINGS.test(file)))
  for (const file of reached) for (const { resolved } of arrows.get(file) ?? []) reached.add(resolved)
  return [...arrows.keys()].filter(
    (file) => /^(apps|packages|scripts|tests)\//.test(file) && !reached.has(file),
  )
}
