import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import config from '../../vitest.config.ts'
import { SECTIONS } from '../gauntlet/sections.ts'

/** A file that only the gauntlet runs, and that no section names, would never run. */
test('gauntlet: a section runs every file of its project, and every file of a section exists', () => {
  const projects = (config.test?.projects ?? []).flatMap((project) =>
    typeof project === 'object' && 'test' in project ? [project.test] : [],
  )
  const project = projects.find((one) => one?.name === 'gauntlet')
  const files = globSync([...(project?.include ?? [])])
  const named = SECTIONS.flatMap((section) => section.files ?? [])
  expect(files).toContain('tests/earn/processes.test.ts')
  expect(files.filter((file) => !named.some((name) => file.startsWith(name)))).toEqual([])
  expect(named.filter((name) => globSync(name).length === 0)).toEqual([])
})
