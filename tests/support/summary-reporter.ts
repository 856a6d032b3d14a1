import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { type FileResult, type RunResult, summaryOf } from './summary.ts'

/** Writes the summary of a run to a file, and lets the run fail when a test file takes too long. */
export class SummaryReporter implements Reporter {
  private readonly file: string
  private readonly reasons: Readonly<Record<string, string>>
  private isSharded = false

  constructor(file: string, reasons: Readonly<Record<string, string>>) {
    this.file = file
    this.reasons = reasons
  }

  onInit({ config }: Vitest): void {
    this.isSharded = config.shard !== undefined
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const run: RunResult = { files: modules.map(resultOf), errors: errors.length, isSharded: this.isSharded }
    const { text, isGood } = summaryOf(run, this.reasons)
    writeFileSync(this.file, text)
    if (!isGood) process.exitCode = 1
  }
}

function resultOf(module: TestModule): FileResult {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic()
  const tests = [...module.children.allTests()]
  const named = tests.filter((test) => test.result().state === 'failed').map(({ fullName }) => fullName)
  const isBroken = module.state() === 'failed' && named.length === 0
  return {
    path: relative(process.cwd(), module.moduleId),
    project: module.project.name,
    seconds:
      (collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration) / 1_000,
    passed: tests.filter((test) => test.result().state === 'passed').length,
    skipped: tests.filter((test) => test.result().state === 'skipped').length,
    failures: isBroken ? ['the file could not be run'] : named,
  }
}
