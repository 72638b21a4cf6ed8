import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CALL, errorOf, INTO, MINUTE, openVault, work } from './vault.test-support.ts'

describe('a file in Pending_Approval', () => {
  test('makes the task wait for a person, and no iteration is counted then', async () => {
    const vault = openVault()
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.md' })
    vault.move('Needs_Action/a.md', 'Pending_Approval/a.md')
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({
      iteration: 1,
      status: 'waiting_approval',
      should_continue: false,
    })
    const { message } = await errorOf(vault.ralph.incrementIteration(work('a')))
    expect(message).toContain('Task a is waiting_approval and cannot become in_progress. Approve or reject it first')
    expect((await vault.ralph.getTaskState('a')).iteration).toBe(1)
  })

  test('waits even in the last iteration', async () => {
    const vault = openVault()
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.md', max_iterations: 1 })
    vault.move('Needs_Action/a.md', 'Pending_Approval/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('waiting_approval')
    expect((await vault.ralph.approveTask('a')).status).toBe('max_iterations_reached')
    expect(vault.has('Needs_Action/a.md')).toBe(true)
  })

  test('that a person moves to Done is done', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    vault.move('Pending_Approval/a.md', 'Done/a.md')
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })

  test('that existed before another task of that name started blocks it', async () => {
    const vault = openVault()
    vault.put('Pending_Approval/a.md')
    const { message } = await errorOf(vault.ralph.startTask({ task_file: 'Needs_Action/a.md' }))
    expect(message).toContain('Pending_Approval/a.md already exists, so it would wait for approval at once')
  })
})

describe('approveTask', () => {
  test('brings the file back, and the task continues', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    const state = await vault.ralph.approveTask({ task_id: 'a', note: 'Send it.' })
    expect(state).toMatchObject({ status: 'in_progress', iteration: 2 })
    expect([vault.has('Needs_Action/a.md'), vault.has('Pending_Approval/a.md')]).toEqual([true, false])
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({ iteration: 2, status: 'completed' })
  })

  test('brings it back to the folder it came from', async () => {
    const vault = openVault([])
    vault.put('Inbox/Clients/a.md')
    await vault.ralph.startTask({ task_file: 'Inbox/Clients/a.md' })
    vault.move('Inbox/Clients/a.md', 'Pending_Approval/a.md')
    await vault.ralph.incrementIteration(work('a'))
    await vault.ralph.approveTask('a')
    expect(vault.has('Inbox/Clients/a.md')).toBe(true)
  })

  test('leaves a file alone that the user has brought back', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    vault.move('Pending_Approval/a.md', 'Needs_Action/a.md')
    expect((await vault.ralph.approveTask('a')).status).toBe('in_progress')
    expect(vault.has('Needs_Action/a.md')).toBe(true)
  })

  test('overwrites no file of that name, and the task keeps waiting', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    vault.put('Needs_Action/a.md', 'Another.\n')
    const error = await errorOf(vault.ralph.approveTask('a'))
    expect(error).toMatchObject({
      code: 'file-unusable',
      message: expect.stringContaining('Needs_Action/a.md already exists'),
    })
    expect(vault.read('Needs_Action/a.md')).toBe('Another.\n')
    expect((await vault.ralph.getTaskState('a')).status).toBe('waiting_approval')
    vault.move('Needs_Action/a.md', 'Elsewhere/other.md')
    expect((await vault.ralph.approveTask('a')).status).toBe('in_progress')
  })
})

describe('rejectTask', () => {
  test('moves the file to Failed, with a note that says why', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    vault.clock.now += MINUTE
    expect(await vault.ralph.rejectTask({ task_id: 'a', reason: 'Too expensive.' })).toMatchObject({ status: 'failed' })
    expect(vault.names('Failed')).toEqual(['a.md', 'a.md.why.md'])
    expect(vault.names('Pending_Approval')).toEqual([])
    const note = vault.read('Failed/a.md.why.md')
    expect(note).toMatch(/^---\nralph: failed\nfrom: "Needs_Action\/a\.md"\n---\n\n# a was not completed\n/)
    for (const words of [
      'You rejected it: Too expensive.',
      '- iterations: 1',
      '- stopped: 2026-01-15T10:01:00.000Z',
      'move Failed/a.md back to Needs_Action/a.md.',
    ])
      expect(note).toContain(words)
    expect(vault.written('a').status).toBe('failed')
  })

  test('overwrites no file of that name in Failed', async () => {
    const vault = openVault()
    vault.put('Failed/a.md', 'An older one.\n')
    await INTO.waiting_approval(vault, 'a')
    await vault.ralph.rejectTask('a')
    expect(vault.read('Failed/a.md')).toBe('An older one.\n')
    expect(vault.names('Failed')).toEqual(['a-2.md', 'a-2.md.why.md', 'a.md'])
  })

  test('leaves an older note alone, even when looked at again', async () => {
    const vault = openVault()
    vault.put('Failed/a.md', 'An older one.\n')
    vault.put('Failed/a.md.why.md', 'Why that was.\n')
    await INTO.failed(vault, 'a')
    await CALL.updateProgress(vault.ralph, 'a')
    expect(vault.names('Failed')).toEqual(['a-2.md', 'a-2.md.why.md', 'a.md', 'a.md.why.md'])
    expect(vault.read('Failed/a.md.why.md')).toBe('Why that was.\n')
  })

  test('moves the file once: bringing it back starts over, and the note goes', async () => {
    const vault = openVault()
    await INTO.failed(vault, 'a')
    vault.move('Failed/a.md', 'Needs_Action/a.md')
    await CALL.updateProgress(vault.ralph, 'a')
    expect(vault.has('Needs_Action/a.md')).toBe(true)
    expect(vault.names('Failed')).toEqual(['a.md.why.md'])
    await INTO.in_progress(vault, 'a')
    expect(vault.names('Failed')).toEqual([])
  })

  test('leaves a note without its head alone', async () => {
    const vault = openVault()
    await INTO.failed(vault, 'a')
    vault.move('Failed/a.md', 'Needs_Action/a.md')
    vault.put('Failed/a.md.why.md', '# a was not completed\n\nIt was stopped.\n')
    await INTO.in_progress(vault, 'a')
    expect(vault.names('Failed')).toEqual(['a.md.why.md'])
  })

  test('says what is wrong if Failed is not a folder, and works once that is fixed', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    writeFileSync(join(vault.path, 'Failed'), '')
    expect(await errorOf(vault.ralph.rejectTask('a'))).toMatchObject({ code: 'file-unusable' })
    expect(vault.written('a').status).toBe('waiting_approval')
    rmSync(join(vault.path, 'Failed'))
    expect((await vault.ralph.rejectTask('a')).status).toBe('failed')
    expect(vault.has('Failed/a.md')).toBe(true)
  })

  test.each(['approveTask', 'rejectTask', 'incrementIteration'] as const)(
    '%s waits for a vault that is unavailable',
    async (call) => {
      const vault = openVault()
      await (call === 'incrementIteration' ? INTO.in_progress : INTO.waiting_approval)(vault, 'a')
      vault.move('.', '../away')
      mkdirSync(vault.path) // what is left of a disk that is not mounted
      const calls = { approveTask: 'a', rejectTask: 'a', incrementIteration: work('a') }
      expect(await errorOf(vault.ralph[call](calls[call] as never))).toMatchObject({ code: 'file-unusable' })
      expect(readdirSync(vault.path)).toEqual([])
    },
  )

  test('leaves a note even if the file no longer exists', async () => {
    const vault = openVault()
    await INTO.waiting_approval(vault, 'a')
    vault.move('Pending_Approval/a.md', '../away.md')
    expect((await vault.ralph.rejectTask('a')).status).toBe('failed')
    expect(vault.names('Failed')).toEqual(['a.md.why.md'])
  })
})

describe('a file of that name that was in another folder before', () => {
  test.each(['Failed', 'Notes'])('is not taken for the missing one: %s', async (folder) => {
    const vault = openVault()
    vault.put(`${folder}/a.md`, 'An older one.\n')
    await INTO.in_progress(vault, 'a')
    rmSync(join(vault.path, 'Needs_Action/a.md'))
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('failed')
    expect(vault.read(`${folder}/a.md`)).toBe('An older one.\n')
  })

  test('counts if it is moved to its place', async () => {
    const vault = openVault()
    vault.put('Notes/a.md')
    await INTO.in_progress(vault, 'a')
    vault.move('Notes/a.md', 'Done/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
  })

  test('does not hide one that is rewritten and moved', async () => {
    const vault = openVault()
    vault.put('Failed/a.md', 'An older one.\n')
    await INTO.in_progress(vault, 'a')
    vault.put('Needs_Action/new.md', 'As editors do.\n')
    vault.move('Needs_Action/new.md', 'Needs_Action/a.md')
    vault.move('Needs_Action/a.md', 'Elsewhere/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('max_iterations_reached')
  })
})
