package main

import (
	"p8/dream"
	mem "p8/memory"
	"p8/reminder"
)

// remembering, dreaming and reminding are nil where nothing is stored.

func (p *parts) remembering() *mem.Builder { return nil }

func (p *parts) dreaming() *dream.Service { return nil }

func (p *parts) reminding() *reminder.Service { return nil }
