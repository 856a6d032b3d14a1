import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { CRUISE_OPTIONS, RULES } from '../../architecture.rules.ts'

/** Reads every import under `folders` of the project at `baseDir` and checks it by the rules. */
export async function readImports(baseDir: string, folders: string[]): Promise<ICruiseResult> {
  const ruleSet = { forbidden: RULES }
  const { output } = await cruise(folders, { ...CRUISE_OPTIONS, baseDir, validate: true, ruleSet })
  if (typeof output === 'string') throw new Error(output)
  return output
}

/** Entry points: programs, commands, benches, tests, and what vitest or a test starts by its path. */
const ENTRY_POINTS =
  /^apps\/web\/(?:vite\.config\.ts|src\/app\/(?:entry-(?:client|server)|looks\/looks)\.tsx)$|^(?:apps\/[^/]+|packages\/(?:cli|mcp-stdio|admin))\/src\/main\.ts$|^packages\/(?:cli|mcp-stdio)\/bin\/|\/src\/commands\/|^tests\/load\/bench-|^tests\/faults\/money\/(?:seed-bug|webhook-endpoints-process)\.ts$|^tests\/journeys\/blocking-seller\.ts$|^tests\/x402\/first-version-client\.ts$|^tests\/workers\/recording-worker\.ts$|^tests\/payments\/follower-process\.ts$|^tests\/gauntlet\/(?:main|check-audit|check-fixes)\.ts$|^tests\/guides\/(?:allow-in-browser|time-quick-start)\.ts$|\.test\.ts$|\/template-database\.ts$|^tests\/support\/(?:build-pages|bundle|count-properties)\.ts$|^scripts\/(?:build|pack|compile-contracts|start|map-trace|sbom)\.ts$/

/** Files that no program, command or test imports. Knip cannot tell: our packages export every file by name. */
export function unreached({ modules }: ICruiseResult): string[] {
  const imports = new Map(modules.map(({ source, dependencies }) => [source, dependencies]))
  const reached = new Set([...imports.keys()].filter((file) => ENTRY_POINTS.test(file)))
  for (const file of reached) for (const { resolved } of imports.get(file) ?? []) reached.add(resolved)
  return [...imports.keys()].filter(
    (file) => /^(apps|packages|scripts|tests)\//.test(file) && !reached.has(file),
  )
}
