package ask

// sentence is a user's sentence and the query that a person would write for it, "" if the
// words alone do not tell. The clock is at Friday, 2026-11-20, 15:30 UTC.
type sentence struct{ text, want string }

// sentences were written before the rules; those of further after them.
func sentences() []sentence {
	return []sentence{
		// A name.
		{"Show me Sarah Chen", `LOOKUP sarah-chen`},
		{"who is sarah chen?", `LOOKUP sarah-chen`},
		{"What do you know about Project Alpha?", `LOOKUP project-alpha`},
		{"tidb-migration", `LOOKUP tidb-migration`},
		{"Could you open the Q4 report, please", `LOOKUP q4-report`},
		{"tell me about Conor O'Brien", `LOOKUP conor-obrien`},
		{"Sarah Chen and Mike Ross", `LOOKUP sarah-chen, mike-ross`},

		// A misspelt name.
		{"who is Sara Chn?", `FUZZY "Sara Chn"`},
		{"Find someone called Micheal Ross", `FUZZY "Micheal Ross"`},
		{"projct alpha", `FUZZY "projct alpha"`},

		// A subject.
		{"Find documents about databases", `SEARCH databases FROM resources`},
		{"notes on API design", `SEARCH "API design" FROM resources`},
		{"Do we have anything written about onboarding new engineers?", `SEARCH "onboarding new engineers" FROM resources`},
		{"which articles mention vector search", `SEARCH "vector search" FROM resources`},
		{"search for deployment checklists", `SEARCH "deployment checklists" FROM resources`},
		{"How do I write an agent?", `SEARCH "write an agent" FROM resources`},
		{"moments about burnout", `SEARCH burnout FROM moments`},
		{"give me the top 5 documents about query performance", `SEARCH "query performance" FROM resources LIMIT 5`},

		// Relations.
		{"What is related to Project Alpha?", `TRAVERSE project-alpha DIRECTION both`},
		{"who works with Sarah Chen", `TRAVERSE sarah-chen TYPE works_with DIRECTION both`},
		{"Who does Sarah Chen report to?", `TRAVERSE sarah-chen TYPE reports_to`},
		{"what is connected with the tidb migration", `TRAVERSE tidb-migration DIRECTION both`},
		{"What does Mike Ross manage?", `TRAVERSE mike-ross TYPE manages`},
		{"show everything within two hops of project alpha", `TRAVERSE project-alpha DIRECTION both DEPTH 2`},

		// Dates and numbers.
		{"meetings last week", `SQL SELECT name, summary, starts_timestamp FROM moments WHERE moment_type = 'meeting' AND starts_timestamp >= '2026-11-09' AND starts_timestamp < '2026-11-16' ORDER BY starts_timestamp DESC LIMIT 20`},
		{"What happened yesterday?", `SQL SELECT name, summary, starts_timestamp FROM moments WHERE starts_timestamp >= '2026-11-19' AND starts_timestamp < '2026-11-20' ORDER BY starts_timestamp DESC LIMIT 20`},
		{"all moments since 2026-11-01", `SQL SELECT name, summary, starts_timestamp FROM moments WHERE starts_timestamp >= '2026-11-01' ORDER BY starts_timestamp DESC LIMIT 20`},
		{"how many messages did I send today?", `SQL SELECT COUNT(*) AS count FROM messages WHERE message_type = 'user' AND created_at >= '2026-11-20' AND created_at < '2026-11-21'`},
		{"files uploaded between 2026-10-01 and 2026-10-15", `SQL SELECT name, uri, processing_status, created_at FROM files WHERE created_at >= '2026-10-01' AND created_at < '2026-10-16' ORDER BY created_at DESC LIMIT 20`},
		{"How many documents do we have?", `SQL SELECT COUNT(*) AS count FROM files`},

		// No query follows from the words.
		{"hello", ""},
		{"What's the weather like in Paris?", ""},
		{"Delete everything about Sarah Chen", ""},
		{"why is it so slow?", ""},
		{"and the other one?", ""},
		{"Draft an email to the board about our strategy", ""},
		{"Should I promote Sarah Chen or Mike Ross?", ""},
		{"translate this into French", ""},
		{"who is Zorblax Quuxington?", ""},
		{"thanks, that was great", ""},
	}
}

// further were written after the rules, to test them on new sentences.
func further() []sentence {
	return []sentence{
		{"get me the profile of sarah chen", `LOOKUP sarah-chen`},
		{"How do I install p8?", `SEARCH "install p8" FROM manual`},
		{"Who is Mike?", `FUZZY "Mike"`},
		{"look up q4 report", `LOOKUP q4-report`},
		{"documents regarding incident response", `SEARCH "incident response" FROM resources`},
		{"is there any material on hiring?", `SEARCH hiring FROM resources`},
		{"what did we write about pricing last month", `SEARCH pricing FROM resources WHERE "created_at >= '2026-10-01' AND created_at < '2026-11-01'"`},
		{"which meetings did we have this week?", `SQL SELECT name, summary, starts_timestamp FROM moments WHERE moment_type = 'meeting' AND starts_timestamp >= '2026-11-16' AND starts_timestamp < '2026-11-23' ORDER BY starts_timestamp DESC LIMIT 20`},
		{"files added in the last 3 days", `SQL SELECT name, uri, processing_status, created_at FROM files WHERE created_at >= '2026-11-17' AND created_at < '2026-11-21' ORDER BY created_at DESC LIMIT 20`},
		{"How many meetings were there in October?", `SQL SELECT COUNT(*) AS count FROM moments WHERE moment_type = 'meeting' AND starts_timestamp >= '2026-10-01' AND starts_timestamp < '2026-11-01'`},
		{"show the latest documents", `SQL SELECT name, uri, processing_status, created_at FROM files ORDER BY created_at DESC LIMIT 20`},
		{"what's connected to mike ross?", `TRAVERSE mike-ross DIRECTION both`},
		{"who manages project alpha?", `TRAVERSE project-alpha TYPE manages DIRECTION in`},
		{"what depends on the TiDB migration", `TRAVERSE tidb-migration TYPE depends_on DIRECTION in`},
		{"everyone who reports to Mike Ross", `TRAVERSE mike-ross TYPE reports_to DIRECTION in`},
		{"who wrote the Q4 report?", `TRAVERSE q4-report TYPE authored_by`},
		{"events on 3 November", `SQL SELECT name, summary, starts_timestamp FROM moments WHERE starts_timestamp >= '2026-11-03' AND starts_timestamp < '2026-11-04' ORDER BY starts_timestamp DESC LIMIT 20`},
		{"LOOKUP sarah-chen", `LOOKUP sarah-chen`},
		{"hello world", `LOOKUP hello-world`},
		{"where do I find the getting started guide", `LOOKUP getting-started`},
		{"what time is it?", ""},
		{"compare sarah chen with mike ross", ""},
		{"what should we do next week?", ""},

		// The row that a question names comes before a guess, and so does a written query.
		{"What does project alpha say about risks?", `LOOKUP project-alpha`},
		{"Which people does the tidb-migration need?", `LOOKUP tidb-migration`},
		{"how do I read the Q4 report", `LOOKUP q4-report`},
		{"explain the tidb migration, please", `LOOKUP tidb-migration`},
		{"Does Sarah Chen know project alpha?", `LOOKUP sarah-chen, project-alpha`},
		{"search notes", `LOOKUP search-notes`},
		{"search for sarah chen", `SEARCH "sarah chen" FROM resources`},
		{"documents about sarah chen", `SEARCH "sarah chen" FROM resources`},
		{"please run LOOKUP sarah-chen", `LOOKUP sarah-chen`},
		{"fuzzy sara chn", `FUZZY "sara chn"`},
		{"traverse sarah-chen", `TRAVERSE sarah-chen`},
		{"traverse the whole graph", ""},
		{"select name from moments", `SQL select name from moments`},
		{"select a present from the list", ""},
	}
}
