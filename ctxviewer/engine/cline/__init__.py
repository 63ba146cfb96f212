"""The context management of Cline 4.0.10, rule by rule, as pure functions over decoded JSON.

| question | module |
| --- | --- |
| how large is the window, from where on is it managed | `window`, `checks` |
| what did a request use, what do removed entries add up to | `totals` |
| which messages go with the next cut | `truncation` |
| what is stored in context_history.json | `updates`, `notices` |
| where do files stand, which copies are replaced, what does that save | `file_reads`, `optimize`, `savings` |
| what is sent | `project`, `blocks`, `tool_pairs`, `sent_blocks` |
| what is decided for one request, in which stages | `prepare`, `subagent` |
| what does a restore leave | `restore` |

`js` and `js_json` hold what the rules need of the language that the reference is written in. Where the reference would
throw, BrokenInputError is raised. No function changes what it is given; what did not change is shared.
"""
